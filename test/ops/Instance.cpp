// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a run's function to its results: the passes of tp-compile, the executor
// of tp-run.

#include "Instance.h"
#include "colrow/dialects/TP/Inputs.h"
#include "colrow/runtime/Support/Bf16.h"
#include "mlir/Pass/PassManager.h"
#include <numeric>
#include <random>

using namespace mlir;
using namespace colrow;
using namespace colrow::optest;

/// Runs what `add` adds; the error is the first diagnostic.
static llvm::Error runPasses(ModuleOp module,
                             llvm::function_ref<void(OpPassManager &)> add) {
  std::string first;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &d) {
    if (first.empty())
      first = d.str();
    return success();
  });
  PassManager manager(module.getContext());
  add(manager);
  if (succeeded(manager.run(module)))
    return llvm::Error::success();
  return llvm::createStringError("does not compile: " + first);
}

Value optest::addInput(func::FuncOp function, RankedTensorType type,
                       StringRef name) {
  MLIRContext *context = function.getContext();
  unsigned i = function.getNumArguments();
  auto input =
      tp::InputAttr::get(context, tp::InputRole::Data, name, std::nullopt,
                         std::nullopt, std::nullopt, std::nullopt);
  NamedAttribute attribute(tp::getInputAttrName(), input);
  (void)function.insertArgument(
      i, type, DictionaryAttr::get(context, attribute), function.getLoc());
  return function.getArgument(i);
}

void optest::addOutput(OpBuilder &builder, const std::string &name,
                       Value value) {
  tp::OutputOp::create(builder, value.getLoc(), name, FlatSymbolRefAttr(),
                       value, tp::LayoutAttr(), TypeAttr());
}

llvm::Error optest::lowerToInstructions(ModuleOp module, bool composite) {
  return runPasses(module, [&](OpPassManager &manager) {
    auto verify = [&](StringRef phase) {
      passes::VerifyPhaseOptions options;
      options.phase = phase.str();
      manager.addPass(passes::createVerifyPhase(options));
    };
    if (composite)
      manager.addPass(passes::createInsertConjugates());
    verify("step");
    manager.addPass(passes::createPartition());
    verify("local");
    manager.addPass(passes::createFuse());
    manager.addPass(passes::createLowerToPlan());
    manager.addPass(passes::createPlanExpandAttention());
  });
}

static llvm::Error compile(ModuleOp module, bool composite,
                           std::vector<uint8_t> &table) {
  if (llvm::Error error = lowerToInstructions(module, composite))
    return error;
  return runPasses(module, [&](OpPassManager &manager) {
    manager.addPass(passes::createPlanAssignStreams());
    manager.addPass(passes::createPlanPlace());
    manager.addPass(passes::createPlanCompileKernels());
    manager.addPass(passes::createPlanVerify());
    manager.addPass(passes::createPlanWrite(table));
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Bytes of `values` in elements of `dtype`.
static std::vector<char> encode(const Values &values, plan::DType dtype) {
  std::vector<char> bytes;
  auto put = [&](auto x) {
    const char *from = reinterpret_cast<const char *>(&x);
    bytes.insert(bytes.end(), from, from + sizeof(x));
  };
  for (double x : values)
    if (dtype == plan::DType::f32)
      put(float(x));
    else if (dtype == plan::DType::bf16)
      put(runtime::toBf16(float(x)));
    else if (dtype == plan::DType::i64)
      put(int64_t(x));
    else if (dtype == plan::DType::i32)
      put(int32_t(x));
    else
      put(uint8_t(x));
  return bytes;
}

static Values decode(const char *bytes, int64_t count, plan::DType dtype) {
  Values values;
  auto get = [&](auto x) {
    std::memcpy(&x, bytes, sizeof(x));
    bytes += sizeof(x);
    return x;
  };
  for (int64_t i = 0; i < count; ++i)
    if (dtype == plan::DType::f32)
      values.push_back(get(float()));
    else if (dtype == plan::DType::bf16)
      values.push_back(runtime::fromBf16(get(uint16_t())));
    else if (dtype == plan::DType::i64)
      values.push_back(get(int64_t()));
    else if (dtype == plan::DType::i32)
      values.push_back(get(int32_t()));
    else
      values.push_back(get(uint8_t()));
  return values;
}

Values optest::operandValues(Instance op, unsigned i, Signs signs,
                             double shift) {
  Value operand = op->getOperand(i);
  auto type = cast<RankedTensorType>(operand.getType());
  std::minstd_rand random(17 * i + 5);
  int low = signs == Signs::Positive ? 1 : -3, high = 4;
  if (!tp::carriesGradient(type)) {
    low = 0;
    shift = 0;
    if (auto indexing = dyn_cast<tp::IndexingOpInterface>(op))
      high = indexing.getIndexedSize(i).value_or(high);
  }
  Values values;
  for (int64_t n = type.getNumElements(); n > 0; --n)
    values.push_back(low + int(random() >> 8) % (high - low) + shift);
  return values;
}

/// What the input of an operand holds: `parts` summands, less what the
/// function adds again.
static Values inputValues(const Values &whole, int64_t parts, int64_t less) {
  std::minstd_rand random(3);
  Values values(whole.size() * parts);
  for (size_t i = 0; i < whole.size(); ++i) {
    double left = whole[i] - less;
    for (int64_t part = 1; part < parts; ++part) {
      double x = int(random() >> 8) % 7 - 3;
      values[part * whole.size() + i] = x;
      left -= x;
    }
    values[i] = left;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// A scalar has no shape in the file.
static int64_t elementsOf(const flatbuffers::Vector<int64_t> *shape) {
  int64_t elements = 1;
  if (shape)
    for (int64_t size : *shape)
      elements *= size;
  return elements;
}

llvm::Expected<std::unique_ptr<Executable>>
Executable::compile(ModuleOp module, bool composite) {
  auto made = std::make_unique<Executable>();
  std::vector<uint8_t> table;
  if (llvm::Error error = ::compile(module, composite, table))
    return error;
  auto loaded = runtime::loadPlanTable("op-test", table);
  if (!loaded)
    return loaded.takeError();
  made->plan = std::move(*loaded);
  auto executor = runtime::Executor::create(made->plan.get());
  if (!executor)
    return executor.takeError();
  made->executor = std::move(*executor);
  auto program = made->executor->open("run");
  if (!program)
    return program.takeError();
  made->program = *program;
  for (const plan::Input *input : made->program->tables().inputs()) {
    std::vector<char> zeros(elementsOf(input->shape()) * sizeof(int64_t));
    made->executor->setInput(*made->program, *input, zeros.data());
  }
  return made;
}

void Executable::set(StringRef name, const Values &values) {
  for (const plan::Input *input : program->tables().inputs())
    if (name == input->name()->c_str())
      executor->setInput(*program, *input,
                         encode(values, input->dtype()).data());
}

runtime::ScalarBlock optest::scalarsOfRuns() {
  runtime::ScalarBlock scalars;
  scalars.learningRate = 0.5;
  scalars.seed = 9;
  scalars.step = 3;
  return scalars;
}

void Executable::run() {
  runtime::ScalarBlock scalars = scalarsOfRuns();
  runtime::StepInputs step;
  step.learningRate = scalars.learningRate;
  step.seed = scalars.seed;
  step.step = scalars.step;
  executor->run(*program, step);
}

Values Executable::get(StringRef name, unsigned rank) {
  for (const auto &leaving : program->tables().outputs())
    if (name == leaving.output->name()->c_str())
      return decode(executor->output(rank, *leaving.program, *leaving.output),
                    elementsOf(leaving.output->shape()),
                    leaving.output->dtype());
  return {};
}

static Results runOnce(const Run &run, const SplitFunction &split,
                       Executable &program, Signs signs) {
  for (unsigned i = 0; i < run.op->getNumOperands(); ++i)
    program.set("arg" + std::to_string(i),
                inputValues(operandValues(run.op, i, signs), split.parts[i],
                            split.less[i]));
  program.run();
  Results results(run.op->getNumResults());
  for (unsigned i = 0; i < results.size(); ++i)
    for (unsigned rank = 0; rank < run.ranks; ++rank)
      llvm::append_range(results[i],
                         program.get("result" + std::to_string(i), rank));
  return results;
}

llvm::Expected<std::vector<Results>> optest::execute(const Run &run,
                                                     ArrayRef<Signs> signs) {
  auto split = buildSplit(run);
  if (!split)
    return split.takeError();
  auto made = Executable::compile(*split->module,
                                  isa<tp::DecomposableOpInterface>(run.op));
  if (!made)
    return made.takeError();
  Values numbers(numberRows);
  std::iota(numbers.begin(), numbers.end(), 0);
  (*made)->set(numbersName, numbers);
  std::vector<Results> all;
  for (Signs which : signs)
    all.push_back(runOnce(run, *split, **made, which));
  return all;
}
