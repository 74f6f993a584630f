// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From plan IR to tables: what stands in the module, in the order of the IR.

#include "ToTables.h"
#include "colrow/dialects/TP/Config.h"
#include "colrow/dialects/TP/PlanLowering.h"
#include "colrow/runtime/Plan/PlanLimits.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

LogicalResult planir::reportNoPlace(Operation *op) {
  return op->emitOpError("has no place; run plan-place first");
}

std::unique_ptr<plan::BufferT> planir::makeBuffer(plan::Region region,
                                                  StringRef name, Type element,
                                                  uint64_t offset,
                                                  uint64_t bytes) {
  auto buffer = std::make_unique<plan::BufferT>();
  buffer->name = name.str();
  buffer->region = region;
  buffer->dtype = toDType(element);
  buffer->offset = offset;
  buffer->bytes = bytes;
  return buffer;
}

uint32_t ModuleWriter::addBuffer(plan::Region region, StringRef name,
                                 Type element, uint64_t offset,
                                 uint64_t bytes) {
  plan->buffers.push_back(makeBuffer(region, name, element, offset, bytes));
  return plan->buffers.size() - 1;
}

LogicalResult ModuleWriter::addParameter(Operation *op, Type type,
                                         int32_t stateOf) {
  auto offset = op->getAttrOfType<IntegerAttr>(getOffsetAttrName());
  if (!offset)
    return reportNoPlace(op);
  StringAttr name = SymbolTable::getSymbolName(op);
  Type element = cast<RankedTensorType>(type).getElementType();
  uint64_t bytes = tp::tensorBytes(type);
  uint32_t buffer = addBuffer(plan::Region::persistent, name, element,
                              offset.getInt(), bytes);
  bufferIndex[name] = buffer;
  parameterIndex[name] = plan->parameters.size();
  plan->parameters.push_back(toParameter(op, buffer, stateOf));
  uint64_t end =
      offset.getInt() + llvm::alignTo(bytes, runtime::bufferAlignment);
  plan->persistent_bytes = std::max(plan->persistent_bytes, end);
  return success();
}

LogicalResult ModuleWriter::addParameters() {
  for (auto op : module.getOps<tp::ParameterOp>())
    if (failed(addParameter(op, op.getType(), -1)))
      return failure();
  for (auto op : module.getOps<tp::StateOp>())
    if (failed(addParameter(op, op.getType(),
                            parameterOf(op.getParameterAttr().getAttr()))))
      return failure();
  return success();
}

/// Copies the elements that `op` holds; not all attributes have them.
static LogicalResult copyElements(Operation *op, ElementsAttr value,
                                  uint64_t bytes, uint8_t *to) {
  bool isTruth = value.getElementType().isInteger(1);
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (isTruth) {
      for (bool element : dense.getValues<bool>())
        *to++ = element;
      return success();
    }
    ArrayRef<char> raw = dense.getRawData();
    for (uint64_t at = 0; at < bytes; at += raw.size())
      std::memcpy(to + at, raw.data(), raw.size());
    return success();
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource)
    return op->emitOpError("holds elements that are not dense");
  ArrayRef<char> data = resource.getData();
  if (data.size() != bytes)
    return op->emitOpError("holds ")
           << data.size() << " bytes for " << value.getShapedType();
  llvm::transform(data, to, [&](char byte) {
    return isTruth ? uint8_t(byte != 0) : uint8_t(byte);
  });
  return success();
}

LogicalResult ModuleWriter::addElements(Operation *op, ElementsAttr value,
                                        uint64_t offset, uint64_t alignment,
                                        std::vector<uint8_t> &list) {
  // What the rest of a plan may have beside the constants and the object.
  constexpr uint64_t rest = uint64_t(64) << 20;
  constexpr uint64_t most = FLATBUFFERS_MAX_BUFFER_SIZE;
  uint64_t bytes = elementBytes(value.getElementType());
  for (int64_t size : value.getShapedType().getShape())
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  uint64_t end = llvm::SaturatingAdd(offset, bytes);
  uint64_t others = plan->constants.size() + plan->object.size() - list.size();
  if (llvm::SaturatingAdd(end, others, rest) > most)
    return op->emitOpError("ends at byte ")
           << end << ", a plan file has at most " << most << ", of which "
           << others + rest << " are for others";
  list.resize(std::max<uint64_t>(list.size(), llvm::alignTo(end, alignment)));
  return copyElements(op, value, bytes, list.data() + offset);
}

LogicalResult ModuleWriter::addConstants() {
  for (auto op : module.getOps<ConstantOp>()) {
    if (op.getOffset() < 0)
      return reportNoPlace(op);
    if (failed(addElements(op, op.getValue(), op.getOffset(),
                           runtime::bufferAlignment, plan->constants)))
      return failure();
    bufferIndex[op.getSymNameAttr()] =
        addBuffer(plan::Region::constant, op.getSymName(),
                  op.getTensorType().getElementType(), op.getOffset(),
                  tp::tensorBytes(op.getTensorType()));
  }
  return success();
}

void ModuleWriter::addScalars() {
  WalkResult used = module.walk([](ScalarsOp op) {
    return op.use_empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (used.wasInterrupted())
    scalars = addBuffer(plan::Region::scalars, "scalars",
                        IntegerType::get(module.getContext(), 8), 0,
                        sizeof(runtime::ScalarBlock));
}

void ModuleWriter::addKernels() {
  for (auto op : module.getOps<KernelOp>()) {
    auto kernel = std::make_unique<plan::KernelT>();
    kernel->symbol = op.getSymName().str();
    kernel->ints = op.getInts();
    for (auto attr : op.getArgs().getAsRange<KernelArgAttr>()) {
      auto arg = std::make_unique<plan::KernelArgT>();
      arg->dtype = toDType(attr.getElementType());
      arg->access = plan::Access(unsigned(attr.getAccess()));
      arg->extent = attr.getExtent();
      kernel->args.push_back(std::move(arg));
    }
    kernelIndex[op.getSymNameAttr()] = plan->kernels.size();
    plan->kernels.push_back(std::move(kernel));
  }
}

LogicalResult ModuleWriter::addObject() {
  bool known = false;
  for (auto op : module.getOps<ObjectOp>()) {
    if (std::exchange(known, true))
      return op.emitOpError("is a second object; a plan file has one");
    plan->target_cpu = op.getCpu().str();
    plan->target_features = op.getFeatures().str();
    if (failed(addElements(op, op.getCode(), 0, /*alignment=*/1, plan->object)))
      return failure();
  }
  return success();
}

void ModuleWriter::addAttributes() {
  auto text = [&](StringRef name) {
    auto attr = module->getAttrOfType<StringAttr>(name);
    return attr ? attr.str() : std::string();
  };
  plan->compiler_version = COLROW_VERSION;
  plan->target = "cpu";
  plan->model_type = text(tp::getModelTypeAttrName());
  plan->config_json = tp::getConfig(module).str();
  auto dict = module->getAttrOfType<DictionaryAttr>(tp::getOptimizerAttrName());
  if (!dict)
    return;
  auto number = [&](StringRef name) {
    auto attr = dict.getAs<FloatAttr>(name);
    return attr ? attr.getValueAsDouble() : 0;
  };
  plan->optimizer = std::make_unique<plan::OptimizerT>();
  plan->optimizer->beta1 = number("beta1");
  plan->optimizer->beta2 = number("beta2");
  plan->optimizer->eps = number("eps");
  plan->optimizer->weight_decay = number("weight_decay");
  plan->optimizer->clip_grad_norm = number("clip_grad_norm");
}

LogicalResult ModuleWriter::run(PlanTables &result) {
  plan = &result.plan;
  auto meshAttr = module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName());
  if (!meshAttr)
    return module.emitError("the module has no tp.mesh, so no ranks");
  mesh = meshAttr.getMesh();
  plan->mesh = toMesh(meshAttr);
  addAttributes();
  if (failed(addParameters()) || failed(addConstants()))
    return failure();
  plan->persistent_fingerprint = fingerprint(plan->parameters);
  addScalars();
  addKernels();
  if (failed(addObject()))
    return failure();
  for (auto op : module.getOps<ProgramOp>()) {
    plan->programs.push_back(std::make_unique<plan::ProgramT>());
    result.programs.push_back(op);
    if (failed(writeProgram(*this, op, *plan->programs.back(),
                            result.instructions.emplace_back(),
                            plan->buffers.size())))
      return failure();
  }
  return success();
}

FailureOr<PlanTables> planir::toTables(ModuleOp module) {
  PlanTables tables;
  if (failed(ModuleWriter(module).run(tables)))
    return failure();
  return tables;
}

namespace {
/// A buffer that is built from its end on, which lies at a multiple of the
/// alignment of all tables.
struct AlignedAllocator : flatbuffers::Allocator {
  uint8_t *allocate(size_t size) override {
    return static_cast<uint8_t *>(
        llvm::allocate_buffer(size, runtime::bufferAlignment));
  }
  void deallocate(uint8_t *memory, size_t size) override {
    llvm::deallocate_buffer(memory, size, runtime::bufferAlignment);
  }
};
} // namespace

/// More bytes than most plans take: pages that are never touched cost nothing,
/// and growing would copy.
static size_t expectedBytes(const PlanTables &tables) {
  size_t bytes = tables.plan.constants.size() + tables.plan.object.size() +
                 tables.plan.config_json.size() +
                 1024 * (tables.plan.parameters.size() + 16);
  for (const auto &program : tables.instructions)
    bytes += 512 * program.size();
  return llvm::alignTo(bytes, runtime::bufferAlignment);
}

PackedPlan::PackedPlan(Operation *module) {
  FailureOr<PlanTables> tables = toTables(cast<ModuleOp>(module));
  if (failed(tables))
    return;
  static AlignedAllocator allocator;
  flatbuffers::FlatBufferBuilder builder(expectedBytes(*tables), &allocator,
                                         /*own_allocator=*/false,
                                         runtime::bufferAlignment);
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &tables->plan));
  buffer = builder.Release();
  programs = std::move(tables->programs);
  instructions = std::move(tables->instructions);
}

Operation *PackedPlan::getOp(int program, int instruction) const {
  return instruction < 0 ? programs[program]
                         : instructions[program][instruction];
}
