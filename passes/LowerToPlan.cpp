// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lower-to-plan: instructions over buffers at fixed offsets, then the file.

#include "BufferPlan.h"
#include "PlanWriter.h"
#include "colrow/Passes/Passes.h"
#include "colrow/TP/Inputs.h"
#include "colrow/TP/PlanLowering.h"
#include "colrow/TP/RowLowering.h"
#include "colrow/runtime/PlanFile.h"
#include "llvm/Support/FormatVariadic.h"

namespace colrow::passes {
#define GEN_PASS_DEF_LOWERTOPLAN
#include "colrow/Passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {

int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// "layers.3.mlp.up tp.matmul": the op and where it comes from.
std::string nameOf(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location loc) {
    if (auto named = dyn_cast<NameLoc>(loc)) {
      name = named.getName().str() + " ";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name + op->getName().getStringRef().str();
}

/// Steps of the program, in order: one op, or the ops of one kernel.
SmallVector<SmallVector<Operation *>> groupSteps(func::FuncOp step) {
  SmallVector<SmallVector<Operation *>> steps;
  IntegerAttr last;
  tp::forEachOp(step, [&](Operation &op) {
    auto kernel = op.getAttrOfType<IntegerAttr>("kernel");
    if (kernel && kernel == last)
      steps.back().push_back(&op);
    else
      steps.push_back({&op});
    last = kernel;
  });
  return steps;
}

class Lowering : public tp::PlanLowering {
public:
  Lowering(ModuleOp module, func::FuncOp step)
      : module(module), step(step), steps(groupSteps(step)),
        buffers(step, steps) {
    program.module = module;
    program.mesh = module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName());
  }

  LogicalResult run() {
    if (failed(placeArguments()))
      return failure();
    placeSymbols();
    findVocabulary();
    assignUpdates();
    for (auto [i, group] : llvm::enumerate(steps)) {
      current = i;
      if (failed(lowerStep(group)))
        return failure();
    }
    program.scratchBytes = buffers.allocate();
    if (failed(checkRegions()))
      return failure();
    resolve();
    countMemory();
    return success();
  }

  PlanProgram &getProgram() { return program; }

  //===--------------------------------------------------------------------===//
  // PlanLowering
  //===--------------------------------------------------------------------===//

  void gemm(const tp::GemmShape &shape, tp::PlanRef a, tp::PlanRef b,
            tp::PlanRef c) override {
    GemmCall call;
    call.shape = shape;
    call.a = address(a);
    call.b = address(b);
    call.c = address(c);
    emit(call);
  }

  void launch(llvm::Expected<kernel::RowKernel> kernel,
              ArrayRef<tp::PlanRef> args, ArrayRef<tp::PlanInt> ints) override {
    if (!kernel) {
      std::string error = llvm::toString(kernel.takeError());
      if (kernelError.empty())
        kernelError = std::move(error);
      return;
    }
    KernelCall call;
    call.kernel = internKernel(*kernel);
    for (auto [ref, arg] : llvm::zip(args, kernel->args)) {
      call.args.push_back(address(ref));
      call.bytes.push_back(extent(*kernel, arg));
    }
    call.ints.assign(ints.begin(), ints.end());
    emit(call);
  }

  void fillZero(tp::PlanRef ref, int64_t elements) override {
    emit(FillCall{address(ref), uint64_t(elements) * 4});
  }

  void loop(int64_t trips, llvm::function_ref<void()> body) override {
    size_t at = program.instructions.size();
    emit(LoopBegin{trips, 0});
    body();
    std::get<LoopBegin>(program.instructions[at].call).body =
        program.instructions.size() - at - 1;
  }

  tp::PlanRef temporary(int64_t elements) override {
    tp::PlanRef ref;
    ref.temp = buffers.addTemporary(current, elements * 4);
    return ref;
  }

  void alias(Value, Value) override {} // BufferPlan has seen it

  void collective(Operation *op) override {
    Value in = op->getOperand(0), out = op->getResult(0);
    CollectiveCall call;
    for (auto name :
         op->getAttrOfType<ArrayAttr>("axes").getAsRange<StringAttr>())
      call.axes.push_back(*program.mesh.getMesh().find(name));
    call.kind = isa<tp::AllReduceOp>(op)   ? CollectiveCall::AllReduce
                : isa<tp::AllGatherOp>(op) ? CollectiveCall::AllGather
                                           : CollectiveCall::ReduceScatter;
    if (auto reduce = dyn_cast<tp::AllReduceOp>(op))
      call.isMax = reduce.getReduction() == "max";
    if (auto reason = op->getAttrOfType<StringAttr>("reason"))
      call.reason = reason.str();
    call.count = elementsOf(in);
    if (auto dim = op->getAttrOfType<IntegerAttr>("dim"))
      describeBlocks(call, cast<RankedTensorType>(in.getType()),
                     cast<RankedTensorType>(out.getType()), dim.getInt());
    call.payloadBytes = 4 * std::max(elementsOf(in), elementsOf(out));
    call.src = address(ref(in));
    call.dst = address(ref(out));
    emit(call);
  }

private:
  static void describeBlocks(CollectiveCall &call, RankedTensorType in,
                             RankedTensorType out, int64_t dim) {
    bool gathers = call.kind == CollectiveCall::AllGather;
    auto whole = (gathers ? out : in).getShape();
    auto part = (gathers ? in : out).getShape();
    int64_t inner = 1;
    call.outer = 1;
    for (auto [d, size] : llvm::enumerate(whole))
      (int64_t(d) < dim ? call.outer : inner) *= int64_t(d) == dim ? 1 : size;
    call.block = part[dim] * inner;
    call.total = whole[dim] * inner;
  }

  /// Bytes from an argument's address that the kernel may touch.
  static uint64_t extent(const kernel::RowKernel &kernel,
                         const kernel::Arg &arg) {
    int64_t last = arg.offset + (kernel.cols - 1) * arg.colStride;
    for (auto [rows, stride] : llvm::zip(kernel.rows, arg.rowStrides))
      last += (rows - 1) * stride;
    int64_t offset = 0;
    for (const kernel::Node &node : kernel.nodes)
      if ((node.kind == kernel::NodeKind::Load ||
           node.kind == kernel::NodeKind::Store) &&
          &kernel.args[node.arg] == &arg)
        offset = std::max(offset, node.imm);
    return uint64_t(last + offset + 1) *
           (arg.elem == kernel::Elem::I64 ? 8 : 4);
  }

  template <typename Call> void emit(Call call) {
    PlanInstruction instruction;
    instruction.call = std::move(call);
    instruction.name = currentName;
    program.instructions.push_back(std::move(instruction));
  }

  LogicalResult placeArguments() {
    for (BlockArgument argument : step.getArguments()) {
      tp::InputAttr input = tp::getInput(step, argument.getArgNumber());
      auto type = cast<RankedTensorType>(argument.getType());
      bool isIds = input.getRole() == tp::InputRole::Ids;
      if (input.getRole() == tp::InputRole::Data ||
          !type.getElementType().isInteger(32))
        return step.emitError("lower-to-plan: argument ")
               << argument.getArgNumber()
               << " must be i32 with the role ids ([batch, seq]) or labels "
                  "([batch, seq + 1]) in {tp.input = #tp.input<...>}";
      int64_t seq = type.getDimSize(1) - !isIds;
      if (program.batch &&
          (program.batch != type.getDimSize(0) || program.seq != seq))
        return step.emitError("lower-to-plan: argument ")
               << argument.getArgNumber() << " is for a batch of "
               << type.getDimSize(0) << " x " << seq << ", another one of "
               << program.batch << " x " << program.seq;
      program.batch = type.getDimSize(0);
      program.seq = seq;
    }
    if (!program.batch || program.seq < 1)
      return step.emitError("lower-to-plan: the step has no argument with the "
                            "role \"ids\"");
    for (BlockArgument argument : step.getArguments()) {
      tp::InputAttr input = tp::getInput(step, argument.getArgNumber());
      uint64_t offset =
          input.getRole() == tp::InputRole::Ids
              ? runtime::inputIdsOffset()
              : runtime::inputLabelsOffset(program.batch, program.seq);
      buffers.fix(argument, uint8_t(plan::Region::input), offset);
    }
    return success();
  }

  /// Parameters, then state, each at a 64-byte boundary.
  void placeSymbols() {
    auto place = [&](Operation *op, RankedTensorType type) {
      uint64_t bytes = uint64_t(type.getNumElements()) * 4;
      symbolIndex[SymbolTable::getSymbolName(op)] = program.symbols.size();
      program.symbols.push_back({op, program.persistentBytes, bytes});
      program.persistentBytes += llvm::alignTo(bytes, 64);
      return bytes;
    };
    for (auto op : module.getOps<tp::ParameterOp>())
      program.parameterBytes += place(op, op.getTensorType());
    for (auto op : module.getOps<tp::StateOp>())
      program.optimizerBytes += place(op, cast<RankedTensorType>(op.getType()));
    step.walk([&](tp::ParamOp op) {
      buffers.fix(op.getResult(), uint8_t(plan::Region::persistent),
                  symbolOf(op.getSymbol()).offset);
    });
  }

  /// Ids are checked against what they index.
  void findVocabulary() {
    program.vocabulary = std::numeric_limits<int32_t>::max();
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (auto high = tp::getInput(step, i).getHigh())
        program.vocabulary = std::min(program.vocabulary, *high);
  }

  PersistentSymbol &symbolOf(StringRef name) {
    auto attr = StringAttr::get(module.getContext(), name);
    return program.symbols[symbolIndex.lookup(attr)];
  }

  /// A new value is written over the old one where no later step reads the old
  /// one; else it is copied at the end.
  void assignUpdates() {
    llvm::StringMap<unsigned> lastRead;
    step.walk([&](tp::ParamOp op) {
      unsigned &last = lastRead[op.getSymbol()];
      last = std::max(last, buffers.lastUse(op.getResult()));
    });
    step.walk([&](tp::UpdateOp op) {
      Operation *maker = op.getValue().getDefiningOp();
      if (isa_and_nonnull<tp::AdamWOp>(maker) &&
          buffers.stepOf(maker) >= lastRead.lookup(op.getSymbol()))
        buffers.fix(op.getValue(), uint8_t(plan::Region::persistent),
                    symbolOf(op.getSymbol()).offset);
    });
  }

  LogicalResult lowerStep(ArrayRef<Operation *> group) {
    currentName = nameOf(group.front());
    if (group.size() > 1)
      currentName += llvm::formatv(" +{0}", group.size() - 1);
    if (group.front()->hasAttr("kernel"))
      return lowerKernel(group);
    Operation *op = group.front();
    if (auto lowerable = dyn_cast<tp::PlanLowerableOpInterface>(op)) {
      lowerable.lowerToPlan(*this);
      if (!kernelError.empty())
        return op->emitOpError("cannot become a kernel: ") << kernelError;
      return success();
    }
    if (isa<tp::ParamOp>(op))
      return success();
    if (auto update = dyn_cast<tp::UpdateOp>(op)) {
      lowerUpdate(update);
      return success();
    }
    if (auto output = dyn_cast<tp::OutputOp>(op))
      return lowerOutput(output);
    return op->emitOpError("has no instructions; run tp-fuse before "
                           "lower-to-plan");
  }

  void lowerUpdate(tp::UpdateOp op) {
    const PersistentSymbol &symbol = symbolOf(op.getSymbol());
    Address to{uint8_t(plan::Region::persistent), symbol.offset, {}};
    if (!buffers.isAt(op.getValue(), to.region, to.offset))
      emit(CopyCall{address(ref(op.getValue())), to, symbol.bytes});
  }

  LogicalResult lowerOutput(tp::OutputOp op) {
    Address at = address(ref(op.getValue()));
    if (op.getName() == "loss") {
      program.loss = at;
    } else if (op.getName() == "grad_norm") {
      program.gradNorm = at;
      program.hasGradNorm = true;
    } else if (op.getName() == "token_count") {
      program.tokenCount = at;
    } else {
      PlanOutputValue output;
      output.name =
          op.getParameter() ? op.getParameter()->str() : op.getName().str();
      if (op.getParameter())
        output.parameter = symbolIndex.lookup(
            StringAttr::get(module.getContext(), *op.getParameter()));
      output.whole = cast<RankedTensorType>(
          op.getWhole() ? *op.getWhole() : op.getValue().getType());
      output.src = at;
      program.outputs.push_back(output);
    }
    buffers.keepToEnd(op.getValue());
    return success();
  }

  LogicalResult lowerKernel(ArrayRef<Operation *> group) {
    llvm::SmallPtrSet<Operation *, 8> members(group.begin(), group.end());
    auto escapes = [&](Value value) {
      return llvm::any_of(value.getUsers(), [&](Operation *user) {
        return !members.contains(user);
      });
    };
    auto first = cast<tp::RowLowerableOpInterface>(group.front());
    tp::RowLowering rows(first.getSpace(), escapes);
    for (Operation *op : group)
      cast<tp::RowLowerableOpInterface>(op).lowerToRows(rows);
    auto kernel = rows.finish();
    if (!kernel)
      return group.front()->emitOpError("cannot become a kernel: ")
             << llvm::toString(kernel.takeError());
    KernelCall call;
    call.kernel = internKernel(*kernel);
    for (auto [argument, arg] :
         llvm::zip_equal(rows.getArguments(), kernel->args)) {
      call.args.push_back(addressOf(argument));
      call.bytes.push_back(argumentBytes(argument, *kernel, arg));
      if (argument.zeroFirst)
        emit(FillCall{call.args.back(), call.bytes.back()});
    }
    emit(call);
    return success();
  }

  Address addressOf(const tp::RowArgument &argument) {
    if (argument.constant)
      return {uint8_t(plan::Region::constant),
              internConstant(*argument.constant),
              {}};
    if (argument.scratch)
      return address(temporary(argument.scratch));
    if (!argument.value)
      return {uint8_t(plan::Region::scalars), 0, {}};
    return address(ref(argument.value));
  }

  static uint64_t argumentBytes(const tp::RowArgument &argument,
                                const kernel::RowKernel &kernel,
                                const kernel::Arg &arg) {
    if (argument.constant)
      return argument.constant->size() * 4;
    if (argument.scratch)
      return uint64_t(argument.scratch) * 4;
    if (argument.value)
      return uint64_t(elementsOf(argument.value)) * 4;
    return extent(kernel, arg);
  }

  unsigned internKernel(const kernel::RowKernel &kernel) {
    auto [it, isNew] =
        kernelIndex.try_emplace(kernel.canonical(), program.kernels.size());
    if (isNew)
      program.kernels.push_back(kernel);
    return it->second;
  }

  /// Byte offset of `table` in the constants, 64-byte aligned.
  uint64_t internConstant(ArrayRef<float> table) {
    StringRef bytes(reinterpret_cast<const char *>(table.data()),
                    table.size() * sizeof(float));
    auto [it, isNew] = constantIndex.try_emplace(bytes, 0);
    if (isNew) {
      program.constants.resize(llvm::alignTo(program.constants.size(), 16));
      it->second = program.constants.size() * sizeof(float);
      program.constants.insert(program.constants.end(), table.begin(),
                               table.end());
    }
    return it->second;
  }

  /// Addresses of scratch buffers are numbers of buffers until allocation.
  Address address(const tp::PlanRef &ref) {
    Address at;
    if (ref.scalars)
      at.region = uint8_t(plan::Region::scalars);
    else
      at = ref.value ? buffers.locate(ref.value)
                     : buffers.locateTemporary(ref.temp);
    at.offset += ref.offset * 4;
    for (int64_t stride : ref.strides)
      at.strides.push_back(stride * 4);
    return at;
  }

  void resolve() {
    auto fix = [&](Address &at) { buffers.resolve(at); };
    for (PlanInstruction &instruction : program.instructions)
      std::visit(
          [&](auto &call) {
            using Call = std::decay_t<decltype(call)>;
            if constexpr (std::is_same_v<Call, GemmCall>) {
              fix(call.a), fix(call.b), fix(call.c);
            } else if constexpr (std::is_same_v<Call, KernelCall>) {
              llvm::for_each(call.args, fix);
            } else if constexpr (std::is_same_v<Call, FillCall>) {
              fix(call.dst);
            } else if constexpr (!std::is_same_v<Call, LoopBegin>) {
              fix(call.src), fix(call.dst);
            }
          },
          instruction.call);
    fix(program.loss);
    fix(program.gradNorm);
    if (program.tokenCount)
      fix(*program.tokenCount);
    for (PlanOutputValue &output : program.outputs)
      fix(output.src);
  }

  /// Refuses what no runtime would take, by the value to blame.
  LogicalResult checkRegions() {
    uint64_t bytes = std::max(program.scratchBytes, program.persistentBytes);
    if (bytes <= runtime::maxRegionBytes)
      return success();
    bool arena = bytes == program.scratchBytes;
    Value largest;
    step.walk([&](Operation *op) {
      for (Value value : op->getResults())
        if (isa<tp::ParamOp>(op) != arena &&
            (!largest || elementsOf(value) > elementsOf(largest)))
          largest = value;
    });
    InFlightDiagnostic error = step.emitError("lower-to-plan: a rank needs ");
    error << bytes << " bytes for "
          << (arena ? "activations and temporaries"
                    : "parameters and optimizer state")
          << ", at most " << runtime::maxRegionBytes << " can be addressed";
    if (largest)
      error << "; the largest value, of " << uint64_t(elementsOf(largest)) * 4
            << " bytes, is " << nameOf(largest.getDefiningOp()) << ' '
            << llvm::formatv("{0}", largest.getType()).str();
    return error << ": take a smaller batch or sequence, or more ranks";
  }

  void countMemory() {
    program.activationBytes = buffers.savedBytes();
    step.walk([&](tp::AdamWOp op) {
      program.gradientBytes += uint64_t(elementsOf(op.getG())) * 4;
    });
  }

  ModuleOp module;
  func::FuncOp step;
  SmallVector<SmallVector<Operation *>> steps;
  BufferPlan buffers;
  PlanProgram program;
  unsigned current = 0;
  std::string currentName;
  /// Of the first kernel of an op that could not be built.
  std::string kernelError;
  llvm::DenseMap<StringAttr, unsigned> symbolIndex;
  llvm::StringMap<unsigned> kernelIndex;
  llvm::StringMap<uint64_t> constantIndex;
};

struct LowerToPlanPass : passes::impl::LowerToPlanBase<LowerToPlanPass> {
  using LowerToPlanBase::LowerToPlanBase;
  LowerToPlanPass(std::vector<uint8_t> &tables, StringRef file)
      : receiver(&tables) {
    output = file.str();
  }

  void runOnOperation() override {
    auto step = getStepFunction(getOperation());
    if (failed(step))
      return signalPassFailure();
    if (!getOperation()->hasAttr(tp::getMeshAttrName())) {
      getOperation().emitError("lower-to-plan: the module has no tp.mesh; run "
                               "tp-shard to tp-fuse first");
      return signalPassFailure();
    }
    Lowering lowering(getOperation(), *step);
    if (failed(lowering.run()))
      return signalPassFailure();
    auto tables = writePlanTables(lowering.getProgram());
    if (!tables) {
      getOperation().emitError("lower-to-plan: ")
          << (output.empty() ? "" : output + ": ")
          << llvm::toString(tables.takeError());
      return signalPassFailure();
    }
    if (llvm::Error e = keep(*tables)) {
      getOperation().emitError("lower-to-plan: ")
          << llvm::toString(std::move(e));
      signalPassFailure();
    }
  }

  /// What tp-run would refuse is never written.
  llvm::Error keep(std::vector<uint8_t> &tables) {
    StringRef name = output.empty() ? "plan" : StringRef(output);
    if (llvm::Error e = runtime::loadPlanTable(name, tables).takeError())
      return e;
    if (receiver)
      *receiver = std::move(tables);
    else if (!output.empty())
      return runtime::writePlanFile(output, tables);
    return llvm::Error::success();
  }

  std::vector<uint8_t> *receiver = nullptr;
};
} // namespace

std::unique_ptr<Pass> passes::createLowerToPlan(std::vector<uint8_t> &tables,
                                                StringRef file) {
  return std::make_unique<LowerToPlanPass>(tables, file);
}
