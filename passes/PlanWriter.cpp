// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the FlatBuffers tables of runtime/Plan/plan.fbs.

#include "PlanWriter.h"
#include "colrow/Kernel/Compile.h"
#include "colrow/TP/Config.h"
#include "colrow/runtime/PlanSchema.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
namespace fb = flatbuffers;

namespace {
class Writer {
public:
  explicit Writer(const PlanProgram &program) : program(program) {}

  llvm::Expected<std::vector<uint8_t>> write() {
    kernel::Target target = kernel::hostTarget();
    auto object = compile(target);
    if (!object)
      return object.takeError();
    auto kernels = builder.CreateVector(
        reinterpret_cast<const uint8_t *>(object->data()), object->size());
    builder.ForceVectorAlignment(program.constants.size() * 4, 1, 64);
    auto constants = builder.CreateVector(
        reinterpret_cast<const uint8_t *>(program.constants.data()),
        program.constants.size() * 4);
    auto instructions = writeInstructions();
    auto parameters = writeParameters();
    auto outputs = writeOutputs();
    auto mesh = writeMesh();
    auto loss = operand(program.loss);
    auto norm = program.hasGradNorm ? operand(program.gradNorm)
                                    : fb::Offset<plan::Operand>();
    auto count = program.tokenCount ? operand(*program.tokenCount)
                                    : fb::Offset<plan::Operand>();
    auto memory = plan::CreateMemory(
        builder, program.parameterBytes, program.gradientBytes,
        program.optimizerBytes, program.activationBytes, program.scratchBytes);
    auto optimizer = writeOptimizer();
    auto version = builder.CreateString("0.1.0");
    auto cpu = builder.CreateString(target.cpu);
    auto features = builder.CreateString(target.features);
    auto modelType = builder.CreateString(text("tp.model_type"));
    auto config = builder.CreateString(tp::getConfig(program.module).str());

    plan::PlanBuilder plan(builder);
    plan.add_compiler_version(version);
    plan.add_target_cpu(cpu);
    plan.add_target_features(features);
    plan.add_mesh(mesh);
    plan.add_model_type(modelType);
    plan.add_config_json(config);
    plan.add_batch(program.batch);
    plan.add_seq(program.seq);
    plan.add_vocab(program.vocabulary);
    plan.add_persistent_bytes(program.persistentBytes);
    plan.add_scratch_bytes(program.scratchBytes);
    plan.add_constants(constants);
    plan.add_parameters(parameters);
    plan.add_instructions(instructions);
    plan.add_kernels(kernels);
    plan.add_loss(loss);
    if (program.hasGradNorm)
      plan.add_grad_norm(norm);
    if (program.tokenCount)
      plan.add_token_count(count);
    plan.add_outputs(outputs);
    plan.add_memory(memory);
    if (!optimizer.IsNull())
      plan.add_optimizer(optimizer);
    plan.add_persistent_fingerprint(fingerprint);
    plan::FinishPlanBuffer(builder, plan.Finish());
    return std::vector<uint8_t>(builder.GetBufferPointer(),
                                builder.GetBufferPointer() + builder.GetSize());
  }

private:
  std::string text(StringRef name) {
    auto attr = ModuleOp(program.module)->getAttrOfType<StringAttr>(name);
    return attr ? attr.str() : "";
  }

  static std::string kernelName(unsigned i) {
    return "kernel" + std::to_string(i);
  }

  llvm::Expected<SmallVector<char, 0>> compile(const kernel::Target &target) {
    std::vector<std::pair<std::string, kernel::RowKernel>> named;
    for (auto [i, kernel] : llvm::enumerate(program.kernels))
      named.push_back({kernelName(i), kernel});
    if (named.empty())
      return SmallVector<char, 0>();
    return kernel::compileSharedObject(named, target);
  }

  fb::Offset<plan::Operand> operand(const Address &address) {
    fb::Offset<fb::Vector<int64_t>> strides;
    if (!address.strides.empty())
      strides =
          builder.CreateVector(address.strides.data(), address.strides.size());
    return plan::CreateOperand(builder, plan::Region(address.region),
                               address.offset, strides);
  }

  fb::Offset<void> write(const GemmCall &call) {
    auto a = operand(call.a), b = operand(call.b), c = operand(call.c);
    const tp::GemmShape &s = call.shape;
    return plan::CreateGemm(builder, s.m, s.n, s.k, s.transA, s.transB, s.lda,
                            s.ldb, s.ldc, s.alpha, s.beta, a, b, c)
        .Union();
  }

  fb::Offset<void> write(const KernelCall &call) {
    std::vector<fb::Offset<plan::Operand>> args;
    for (const Address &address : call.args)
      args.push_back(operand(address));
    std::vector<fb::Offset<plan::IntOperand>> ints;
    for (const tp::PlanInt &value : call.ints)
      ints.push_back(plan::CreateIntOperand(
          builder, value.base,
          builder.CreateVector(value.strides.data(), value.strides.size())));
    auto symbol = builder.CreateSharedString(kernelName(call.kernel));
    auto argVector = builder.CreateVector(args);
    auto bytes = builder.CreateVector(call.bytes);
    return plan::CreateLaunch(builder, symbol, argVector, bytes,
                              builder.CreateVector(ints))
        .Union();
  }

  fb::Offset<void> write(const FillCall &call) {
    return plan::CreateFill(builder, operand(call.dst), call.bytes, 0).Union();
  }

  fb::Offset<void> write(const CopyCall &call) {
    auto src = operand(call.src), dst = operand(call.dst);
    return plan::CreateCopy(builder, src, dst, call.bytes).Union();
  }

  fb::Offset<void> write(const CollectiveCall &call) {
    static const plan::CollectiveKind kinds[] = {
        plan::CollectiveKind::all_reduce, plan::CollectiveKind::all_gather,
        plan::CollectiveKind::reduce_scatter};
    plan::Reduction reduction = call.kind == CollectiveCall::AllGather
                                    ? plan::Reduction::none
                                : call.isMax ? plan::Reduction::max
                                             : plan::Reduction::sum;
    auto axes = builder.CreateVector(call.axes.data(), call.axes.size());
    auto src = operand(call.src), dst = operand(call.dst);
    return plan::CreateCollective(builder, kinds[call.kind], reduction,
                                  plan::DType::f32, axes, call.count,
                                  call.outer, call.block, call.total, src, dst,
                                  call.payloadBytes)
        .Union();
  }

  fb::Offset<void> write(const LoopBegin &call) {
    return plan::CreateLoop(builder, call.trips, call.body).Union();
  }

  static plan::Op typeOf(const PlanInstruction &instruction) {
    static const plan::Op types[] = {plan::Op::Gemm,       plan::Op::Launch,
                                     plan::Op::Fill,       plan::Op::Copy,
                                     plan::Op::Collective, plan::Op::Loop};
    return types[instruction.call.index()];
  }

  fb::Offset<fb::Vector<fb::Offset<plan::Instruction>>> writeInstructions() {
    std::vector<fb::Offset<plan::Instruction>> list;
    for (const PlanInstruction &instruction : program.instructions) {
      fb::Offset<void> op = std::visit(
          [&](const auto &call) { return write(call); }, instruction.call);
      auto name = builder.CreateSharedString(instruction.name);
      fb::Offset<fb::String> reason;
      if (auto *call = std::get_if<CollectiveCall>(&instruction.call))
        reason = builder.CreateSharedString(call->reason);
      list.push_back(plan::CreateInstruction(builder, typeOf(instruction), op,
                                             name, reason));
    }
    return builder.CreateVector(list);
  }

  fb::Offset<fb::Vector<int64_t>> numbers(ArrayRef<int64_t> values) {
    return builder.CreateVector(values.data(), values.size());
  }

  fb::Offset<fb::Vector<fb::Offset<plan::Dim>>> dims(RankedTensorType type) {
    layout::Layout layout(type.getRank());
    if (tp::LayoutAttr attr = tp::getLayoutAttr(type))
      layout = attr.getLayout();
    std::vector<fb::Offset<plan::Dim>> list;
    for (auto [d, dim] : llvm::enumerate(layout.dims)) {
      layout::DimLayout factors = dim;
      if (factors.empty())
        factors.push_back({type.getDimSize(d), type.getDimSize(d), {}});
      std::vector<fb::Offset<plan::Factor>> made;
      for (const layout::Factor &factor : factors) {
        std::vector<uint8_t> axes(factor.axes.begin(), factor.axes.end());
        made.push_back(plan::CreateFactor(builder, factor.size, factor.padded,
                                          builder.CreateVector(axes)));
      }
      list.push_back(plan::CreateDim(builder, builder.CreateVector(made)));
    }
    return builder.CreateVector(list);
  }

  fb::Offset<plan::Source> source(tp::SourceAttr attr) {
    auto name = builder.CreateString(attr.getName().str());
    auto shape = numbers(attr.getShape()), reshape = numbers(attr.getReshape());
    auto start = numbers(attr.getStart()), step = numbers(attr.getStep());
    auto size = numbers(attr.getSize());
    std::vector<uint8_t> permVector(attr.getPerm().begin(),
                                    attr.getPerm().end());
    auto perm = builder.CreateVector(permVector);
    return plan::CreateSource(builder, name, shape, reshape, start, step, size,
                              perm);
  }

  fb::Offset<plan::Init> init(std::optional<tp::InitAttr> attr) {
    if (!attr)
      return plan::CreateInit(builder, plan::InitKind::zeros, 0, 0);
    plan::InitKind kind = llvm::StringSwitch<plan::InitKind>(attr->getKind())
                              .Case("ones", plan::InitKind::ones)
                              .Case("constant", plan::InitKind::constant)
                              .Case("normal", plan::InitKind::normal)
                              .Default(plan::InitKind::zeros);
    return plan::CreateInit(builder, kind, attr->getMean().getValueAsDouble(),
                            attr->getStd().getValueAsDouble());
  }

  fb::Offset<fb::Vector<fb::Offset<plan::Parameter>>> writeParameters() {
    llvm::StringMap<int32_t> index;
    std::vector<fb::Offset<plan::Parameter>> list;
    for (const PersistentSymbol &symbol : program.symbols) {
      StringRef name = SymbolTable::getSymbolName(symbol.op).getValue();
      index[name] = list.size();
      auto parameter = dyn_cast<tp::ParameterOp>(symbol.op);
      auto state = dyn_cast<tp::StateOp>(symbol.op);
      auto whole = cast<RankedTensorType>(parameter ? parameter.getWholeType()
                                                    : *state.getWhole());
      std::vector<fb::Offset<plan::Source>> sources;
      if (parameter && parameter.getSource())
        for (auto attr : parameter.getSource()->getAsRange<tp::SourceAttr>())
          sources.push_back(source(attr));
      std::string description;
      llvm::raw_string_ostream(description) << name << whole;
      fingerprint = llvm::xxh3_64bits(description) + fingerprint * 31;
      auto nameOffset = builder.CreateString(name.str());
      auto shape = numbers(whole.getShape());
      auto dimsOffset = dims(whole);
      auto sourcesOffset = builder.CreateVector(sources);
      auto initOffset =
          init(parameter ? std::optional(parameter.getInit()) : std::nullopt);
      auto stateName = builder.CreateString(state ? state.getName().str() : "");
      list.push_back(plan::CreateParameter(
          builder, nameOffset, parameter ? uint32_t(parameter.getId()) : 0,
          plan::DType::f32, shape, dimsOffset, symbol.offset, symbol.bytes,
          sourcesOffset, initOffset,
          state ? index.lookup(state.getParameter()) : -1, stateName));
    }
    return builder.CreateVector(list);
  }

  fb::Offset<fb::Vector<fb::Offset<plan::Output>>> writeOutputs() {
    std::vector<fb::Offset<plan::Output>> list;
    for (const PlanOutputValue &output : program.outputs) {
      auto name = builder.CreateString(output.name);
      auto shape = numbers(output.whole.getShape());
      auto dimsOffset = dims(output.whole);
      list.push_back(plan::CreateOutput(builder, name, output.parameter, shape,
                                        dimsOffset, operand(output.src)));
    }
    return builder.CreateVector(list);
  }

  fb::Offset<fb::Vector<fb::Offset<plan::MeshAxis>>> writeMesh() {
    std::vector<fb::Offset<plan::MeshAxis>> list;
    for (const layout::MeshAxis &axis : program.mesh.getMesh().axes)
      list.push_back(plan::CreateMeshAxis(
          builder, builder.CreateString(axis.name), axis.size,
          axis.role == layout::AxisRole::Batch));
    return builder.CreateVector(list);
  }

  fb::Offset<plan::Optimizer> writeOptimizer() {
    auto dict =
        ModuleOp(program.module)->getAttrOfType<DictionaryAttr>("tp.optimizer");
    if (!dict)
      return {};
    auto get = [&](StringRef name) {
      auto attr = dict.getAs<FloatAttr>(name);
      return attr ? attr.getValueAsDouble() : 0;
    };
    return plan::CreateOptimizer(builder, get("beta1"), get("beta2"),
                                 get("eps"), get("weight_decay"),
                                 get("clip_grad_norm"));
  }

  const PlanProgram &program;
  fb::FlatBufferBuilder builder;
  uint64_t fingerprint = 0;
};
} // namespace

llvm::Expected<std::vector<uint8_t>>
passes::writePlanTables(const PlanProgram &program) {
  return Writer(program).write();
}
