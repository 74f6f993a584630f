// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// op-test FILE: runs each op with a factor rule that stands in FILE, whole and
// split in every way that its rule allows, and compares. README.md.

#include "Instance.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace mlir;
using namespace colrow;
using namespace colrow::optest;

static llvm::cl::opt<std::string>
    input(llvm::cl::Positional, llvm::cl::Required, llvm::cl::desc("FILE"));
static llvm::cl::opt<std::string>
    only("op", llvm::cl::desc("run this op alone, as in tp.matmul"));
static llvm::cl::opt<bool> some("some",
                                llvm::cl::desc("FILE need not show every op"));

namespace {
class Test {
public:
  void add(ModuleOp module) {
    module.walk([&](tp::ShardableOpInterface op) {
      bool placed = llvm::any_of(op->getOperandTypes(), [](Type type) {
        return bool(tp::getLayoutAttr(type));
      });
      placed |= llvm::any_of(op->getResultTypes(), [](Type type) {
        return bool(tp::getLayoutAttr(type));
      });
      if (!placed && !op->hasAttr("layout"))
        run(op);
    });
  }

  /// What no example shows is not tested.
  void checkCovered(MLIRContext &context) {
    for (RegisteredOperationName name :
         context.getRegisteredOperationsByDialect(
             tp::TPDialect::getDialectNamespace()))
      if (name.hasInterface<tp::ShardableOpInterface>() &&
          !covered.contains(name.getStringRef()))
        fail(name.getStringRef() +
             ": no example in its ODS description shows it on tensors without "
             "layout");
  }

  int finish() {
    llvm::outs() << runs << " runs of " << covered.size() << " ops, "
                 << gradients << " gradients, " << failed << " failed\n";
    return failed != 0;
  }

private:
  void run(Operation *op) {
    if (!only.empty() && op->getName().getStringRef() != only)
      return;
    covered.insert(op->getName().getStringRef());
    auto rule = cast<tp::ShardableOpInterface>(op).getFactorRule();
    if (!rule)
      return fail(llvm::toString(rule.takeError()));
    if (auto compared = checkGradients(op))
      gradients += *compared;
    else
      fail(op->getName().getStringRef() + ": " +
           llvm::toString(compared.takeError()));
    compareWays(op, *rule);
  }

  void compareWays(Operation *op, const layout::FactorRule &rule) {
    StringRef name = op->getName().getStringRef();
    SmallVector<Signs> signs{Signs::Both, Signs::Positive};
    auto whole = execute({op, {}, 1, false}, signs);
    ++runs;
    if (!whole)
      return fail(name + ", whole: " + llvm::toString(whole.takeError()));
    // Roots and logarithms are for positive numbers alone.
    if (llvm::any_of(whole->front(), hasNaN)) {
      signs.erase(signs.begin());
      whole->erase(whole->begin());
    }
    for (layout::Way way : rule.ways()) {
      bool splits = way.kind == layout::WayKind::Split;
      if (splits && rule.factors[way.factor].size % 6 == 0)
        fail(name + ": the example's factor " + rule.wayName(way) +
             " divides by 2 and by 3, so no padding is seen; give it another "
             "size");
      for (unsigned ranks : {2, 3})
        for (bool ones : {false, true})
          if (splits || !ones)
            compare({op, way, ranks, ones}, rule, signs, *whole);
    }
  }

  /// "tp.matmul, way k on 2 ranks, operands C S(0)".
  static std::string describe(const Run &run, const layout::FactorRule &rule) {
    std::string text =
        llvm::formatv("{0}, way '{1}' on {2} ranks{3}, operands",
                      run.op->getName().getStringRef(), rule.wayName(run.way),
                      run.ranks, run.ones ? ", padding of 1" : "");
    for (OpOperand &operand : run.op->getOpOperands()) {
      llvm::raw_string_ostream os(text);
      os << ' ' << rule.operandState(run.way, operand.getOperandNumber()).str()
         << ' ' << operand.get().getType();
    }
    return text;
  }

  static bool hasNaN(const Values &values) {
    return llvm::any_of(values, [](double x) { return std::isnan(x); });
  }

  /// Integers come out exactly, other numbers but for rounding, which each
  /// summand of bf16 has of its own; NaN equals nothing.
  static double toleranceOf(const Values &wanted, Type type) {
    double scale = 0;
    bool integers = true;
    for (double x : wanted) {
      integers &= x == std::trunc(x);
      if (std::isfinite(x))
        scale = std::max(scale, std::abs(x));
    }
    return integers
               ? 0
               : (getElementTypeOrSelf(type).isBF16() ? 0x1p-6 : 1e-5) * scale;
  }

  void compare(const Run &run, const layout::FactorRule &rule,
               ArrayRef<Signs> signs, ArrayRef<Results> whole) {
    ++runs;
    auto found = execute(run, signs);
    if (!found)
      return fail(describe(run, rule) + ": " +
                  llvm::toString(found.takeError()));
    for (auto [wanted, values] : llvm::zip_equal(whole, *found))
      for (unsigned i = 0; i < wanted.size(); ++i)
        if (std::string difference =
                differ(wanted[i], values[i], run.op->getResult(i).getType());
            !difference.empty())
          return fail(llvm::formatv("{0}: result {1} differs at {2}",
                                    describe(run, rule), i, difference));
  }

  /// The first place where a copy of `wanted` differs, or nothing.
  static std::string differ(const Values &wanted, const Values &copies,
                            Type type) {
    double tolerance = toleranceOf(wanted, type);
    for (size_t k = 0; k < copies.size(); ++k) {
      double want = wanted[k % wanted.size()];
      if (copies[k] != want && !(std::abs(copies[k] - want) <= tolerance))
        return llvm::formatv("element {0} of copy {1}: {2}, whole {3}",
                             k % wanted.size(), k / wanted.size(), copies[k],
                             want);
    }
    return copies.empty() ? "its size" : "";
  }

  void fail(const llvm::Twine &message) {
    ++failed;
    llvm::errs() << "FAILED: " << message << '\n';
  }

  llvm::StringSet<> covered;
  unsigned runs = 0, gradients = 0, failed = 0;
};
} // namespace

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv);
  DialectRegistry registry;
  registry.insert<func::FuncDialect, tp::TPDialect, planir::PlanDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto text = llvm::MemoryBuffer::getFile(input);
  if (!text) {
    llvm::errs() << input << ": " << text.getError().message() << '\n';
    return 1;
  }
  SmallVector<StringRef> blocks;
  (*text)->getBuffer().split(blocks, "// -----\n");
  Test test;
  SmallVector<OwningOpRef<ModuleOp>> modules;
  for (StringRef block : blocks) {
    auto module = parseSourceString<ModuleOp>(block, &context, input);
    if (!module)
      return 1;
    test.add(*module);
    modules.push_back(std::move(module));
  }
  if (only.empty() && !some)
    test.checkCovered(context);
  return test.finish();
}
