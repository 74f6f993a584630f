// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lower-to-plan: functions of local tp ops become programs of instructions over
// buffers that have no place yet.
//
// Invariant: each tensor has one buffer, written by the instructions of the op
// that makes it and by nothing else; a reshape shares its operand's.

#include "colrow/dialects/Plan/KernelTable.h"
#include "colrow/dialects/TP/Inputs.h"
#include "colrow/dialects/TP/PlanLowering.h"
#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/passes/Passes.h"
#include "colrow/runtime/Plan/Programs.h"

namespace colrow::passes {
#define GEN_PASS_DEF_LOWERTOPLAN
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using planir::BufferType;

namespace {

/// "layers.3.mlp.up tp.matmul +2": the first op of a group, where it comes from
/// and how many others are with it.
StringAttr nameOf(ArrayRef<Operation *> group) {
  std::string name;
  if (StringAttr model = tp::modelName(group.front()->getLoc()))
    name = model.str() + " ";
  name += group.front()->getName().getStringRef();
  if (group.size() > 1)
    name += " +" + std::to_string(group.size() - 1);
  return StringAttr::get(group.front()->getContext(), name);
}

/// The ops of a phase, in order: one op, or the ops of one kernel.
SmallVector<SmallVector<Operation *>> groupOps(Block &phase) {
  SmallVector<SmallVector<Operation *>> groups;
  IntegerAttr last;
  for (Operation &op : phase.without_terminator()) {
    auto kernel = op.getAttrOfType<IntegerAttr>(tp::getKernelAttrName());
    if (kernel && kernel == last)
      groups.back().push_back(&op);
    else
      groups.push_back({&op});
    last = kernel;
  }
  return groups;
}

/// Tables of a module: equal ones are declared once, and made once per key.
class ConstantTables {
public:
  ConstantTables(ModuleOp module, Block::iterator at)
      : builder(module.getBody(), at), symbols(module) {}

  planir::ConstantOp intern(const tp::ConstantTable &table) {
    planir::ConstantOp &known = byKey[table.key];
    if (known)
      return known;
    auto type = RankedTensorType::get(table.shape, builder.getF32Type());
    auto value = DenseElementsAttr::get(type, ArrayRef<float>(table.make()));
    planir::ConstantOp &equal = byValue[value];
    if (!equal) {
      equal = planir::ConstantOp::create(builder, builder.getUnknownLoc(),
                                         table.name, value, -1);
      symbols.insert(equal);
    }
    return known = equal;
  }

private:
  OpBuilder builder;
  SymbolTable symbols;
  llvm::DenseMap<Attribute, planir::ConstantOp> byKey, byValue;
};

/// What the functions of a module share; it stands before them.
struct ModuleTables {
  explicit ModuleTables(ModuleOp module)
      : first(*module.getOps<func::FuncOp>().begin()), kernels(module, first),
        constants(module, first) {}

  Block::iterator first;
  planir::KernelTable kernels;
  ConstantTables constants;
};

class ProgramLowering {
public:
  ProgramLowering(func::FuncOp function, ModuleTables &tables)
      : function(function), tables(tables),
        builder(OpBuilder::atBlockEnd(function->getBlock())), plan(builder) {}

  LogicalResult run() {
    if (failed(createProgram()))
      return failure();
    createInputs();
    findUpdates();
    for (auto [from, to] :
         llvm::zip_equal(function.getBody(), program.getBody())) {
      builder.setInsertionPoint(to.getTerminator());
      for (ArrayRef<Operation *> group : groupOps(from)) {
        plan.setName(nameOf(group));
        if (failed(lower(group)))
          return failure();
      }
    }
    createUpdates();
    createOutputs();
    return success();
  }

private:
  static constexpr llvm::StringLiteral phaseNames[] = {"forward", "backward",
                                                       "update"};

  /// A function with a backward is what tp-run trains with.
  LogicalResult createProgram() {
    size_t phases = function.getBody().getBlocks().size();
    if (phases == 1 && function.getSymName() == runtime::trainProgram)
      return function.emitError("is forward only, but called '")
             << function.getSymName()
             << "' as the program to train with is; give it another name";
    program = planir::ProgramOp::create(
        builder, function.getLoc(),
        phases > 1 ? StringRef(runtime::trainProgram) : function.getSymName(),
        /*ranks=*/DenseI64ArrayAttr(),
        builder.getStrArrayAttr(
            SmallVector<StringRef>(ArrayRef(phaseNames).take_front(phases))));
    for (size_t i = 0; i < phases; ++i)
      program.getBody().emplaceBlock();
    for (Block &block : program.getBody()) {
      builder.setInsertionPointToEnd(&block);
      if (Block *next = block.getNextNode())
        planir::NextOp::create(builder, function.getLoc(), next);
      else
        planir::EndOp::create(builder, function.getLoc());
    }
    builder.setInsertionPoint(program.getBody().front().getTerminator());
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Inputs
  //===--------------------------------------------------------------------===//

  void createInputs() {
    for (BlockArgument argument : function.getArguments()) {
      tp::InputAttr input = tp::getInput(function, argument.getArgNumber());
      auto type = cast<RankedTensorType>(argument.getType());
      auto made = planir::InputOp::create(
          builder, argument.getLoc(),
          BufferType::get(builder.getContext(), type.getElementType()),
          tp::tensorBytes(type), builder.getStringAttr(input.getName()),
          builder.getStringAttr(tp::stringifyInputRole(input.getRole())),
          TypeAttr::get(type), input.getBatchDimension().value_or(-1),
          input.getLow().value_or(0), input.getHigh().value_or(0),
          input.getPaddingValue(), -1);
      plan.setBuffer(argument, made);
    }
  }

  //===--------------------------------------------------------------------===//
  // Groups of ops
  //===--------------------------------------------------------------------===//

  LogicalResult lower(ArrayRef<Operation *> group) {
    Operation *op = group.front();
    if (op->hasAttr(tp::getKernelAttrName()))
      return lowerKernel(group);
    if (auto lowerable = dyn_cast<tp::PlanLowerableOpInterface>(op)) {
      lowerable.lowerToPlan(plan);
      return success();
    }
    if (auto param = dyn_cast<tp::ParamOp>(op)) {
      plan.setBuffer(param.getResult(),
                     global(param.getSymbolAttr(), param.getType()));
      return success();
    }
    if (auto update = dyn_cast<tp::UpdateOp>(op)) {
      if (!keepsItsValue(update))
        updates.push_back({plan.getName(), update, keep(update.getValue())});
      return success();
    }
    if (auto output = dyn_cast<tp::OutputOp>(op)) {
      outputs.push_back({plan.getName(), output, keep(output.getValue())});
      return success();
    }
    return op->emitOpError("has no instructions; run tp-fuse before "
                           "lower-to-plan");
  }

  LogicalResult lowerKernel(ArrayRef<Operation *> group) {
    llvm::SmallPtrSet<Operation *, 8> members(group.begin(), group.end());
    auto escapes = [&](Value value) {
      return llvm::any_of(value.getUsers(), [&](Operation *user) {
        return !members.contains(user);
      });
    };
    auto first = dyn_cast<tp::RowLowerableOpInterface>(group.front());
    if (!first)
      return group.front()->emitOpError("has a kernel number but no rows");
    tp::RowLowering rows(first.getSpace(), escapes);
    for (Operation *op : group)
      cast<tp::RowLowerableOpInterface>(op).lowerToRows(rows);
    auto kernel = rows.finish();
    if (!kernel)
      return group.front()->emitOpError("cannot become a kernel: ")
             << llvm::toString(kernel.takeError());
    SmallVector<planir::Place> args;
    SmallVector<int64_t> bytes;
    for (auto [i, argument] : llvm::enumerate(rows.getArguments())) {
      args.push_back({bufferOf(argument), {}});
      bytes.push_back(bytesOf(argument, *kernel, i));
      if (argument.zeroFirst)
        planir::FillOp::create(builder, group.front()->getLoc(), args.back(),
                               bytes.back(), plan.getName());
    }
    planir::LaunchOp::create(builder, group.front()->getLoc(),
                             tables.kernels.intern(*kernel), args, bytes,
                             ArrayRef<planir::Affine>(), plan.getName());
    return success();
  }

  /// What the kernel may touch behind argument `i`.
  static int64_t bytesOf(const tp::RowArgument &argument,
                         const kernel::RowKernel &kernel, unsigned i) {
    if (argument.value)
      return tp::tensorBytes(argument.value.getType());
    if (argument.constant)
      return argument.constant->getBytes();
    return argument.scratch ? argument.scratch * sizeof(float)
                            : kernel::extentBytes(kernel, i);
  }

  Value bufferOf(const tp::RowArgument &argument) {
    if (argument.value)
      return plan.buffer(argument.value);
    if (argument.scratch)
      return planir::BufferOp::create(
          builder, function.getLoc(),
          BufferType::get(builder.getContext(), builder.getF32Type()),
          argument.scratch * sizeof(float), StringAttr(), -1);
    if (argument.constant) {
      planir::ConstantOp constant = tables.constants.intern(*argument.constant);
      return global(FlatSymbolRefAttr::get(constant.getSymNameAttr()),
                    constant.getTensorType());
    }
    if (!scalars)
      scalars = atStart([&] {
        return planir::ScalarsOp::create(
            builder, function.getLoc(),
            BufferType::get(builder.getContext(), builder.getI8Type()));
      });
    return scalars;
  }

  /// The program's reference to a symbol; one serves all uses.
  Value global(FlatSymbolRefAttr symbol, Type tensor) {
    Value &buffer = globals[symbol.getAttr()];
    if (!buffer)
      buffer = atStart([&] {
        Type element = cast<ShapedType>(tensor).getElementType();
        return planir::GlobalOp::create(
            builder, function.getLoc(),
            BufferType::get(builder.getContext(), element), symbol);
      });
    return buffer;
  }

  Value atStart(llvm::function_ref<Operation *()> create) {
    OpBuilder::InsertionGuard guard(builder);
    if (lastAtStart)
      builder.setInsertionPointAfter(lastAtStart);
    else
      builder.setInsertionPointToStart(&program.getBody().front());
    lastAtStart = create();
    return lastAtStart->getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // What leaves the program
  //===--------------------------------------------------------------------===//

  static bool keepsItsValue(tp::UpdateOp op) {
    auto param = op.getValue().getDefiningOp<tp::ParamOp>();
    return param && param.getSymbol() == op.getSymbol();
  }

  void findUpdates() {
    function.walk([&](tp::UpdateOp op) {
      if (!keepsItsValue(op))
        isUpdated.insert(op.getSymbolAttr().getAttr());
    });
  }

  /// The buffer of `value`, whose contents last to the end: a symbol's old
  /// value is copied where an update will replace it.
  Value keep(Value value) {
    Value buffer = plan.buffer(value);
    auto symbol = buffer.getDefiningOp<planir::GlobalOp>();
    if (!symbol || !isUpdated.contains(symbol.getSymbolAttr().getAttr()))
      return buffer;
    int64_t bytes = tp::tensorBytes(value.getType());
    Value copy = planir::BufferOp::create(
        builder, value.getLoc(), buffer.getType(), bytes, StringAttr(), -1);
    planir::CopyOp::create(builder, value.getLoc(), planir::Place{buffer, {}},
                           planir::Place{copy, {}}, bytes, plan.getName());
    return copy;
  }

  /// Symbols get their new values when nothing reads the old ones any more.
  void createUpdates() {
    for (auto &[name, op, buffer] : updates) {
      Value symbol = global(op.getSymbolAttr(), op.getValue().getType());
      planir::CopyOp::create(builder, op.getLoc(), planir::Place{buffer, {}},
                             planir::Place{symbol, {}},
                             tp::tensorBytes(op.getValue().getType()), name);
    }
  }

  void createOutputs() {
    for (auto &[name, op, buffer] : outputs) {
      auto parameter = op.getParameterAttr();
      StringAttr role =
          parameter ? builder.getStringAttr("gradient") : op.getNameAttr();
      Type whole = op.getWhole() ? *op.getWhole() : op.getValue().getType();
      planir::OutputOp::create(
          builder, op.getLoc(),
          parameter ? parameter.getAttr() : op.getNameAttr(), role, parameter,
          buffer, ArrayRef(planir::Affine()), TypeAttr::get(whole));
    }
  }

  template <typename Op> struct Leaving {
    StringAttr name;
    Op op;
    Value buffer;
  };

  func::FuncOp function;
  ModuleTables &tables;
  OpBuilder builder;
  tp::PlanLowering plan;
  planir::ProgramOp program;
  Operation *lastAtStart = nullptr;
  Value scalars;
  llvm::DenseMap<StringAttr, Value> globals;
  llvm::DenseSet<StringAttr> isUpdated;
  SmallVector<Leaving<tp::UpdateOp>> updates;
  SmallVector<Leaving<tp::OutputOp>> outputs;
};

struct LowerToPlanPass : passes::impl::LowerToPlanBase<LowerToPlanPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto functions = getStepFunctions(module);
    if (failed(functions))
      return signalPassFailure();
    if (!module->hasAttr(tp::getMeshAttrName())) {
      module.emitError("lower-to-plan: the module has no tp.mesh; run tp-shard "
                       "to tp-fuse first");
      return signalPassFailure();
    }
    ModuleTables tables(module);
    for (func::FuncOp step : functions->all)
      if (failed(ProgramLowering(step, tables).run()))
        return signalPassFailure();
    for (func::FuncOp step : functions->all)
      step->erase();
  }
};
} // namespace
