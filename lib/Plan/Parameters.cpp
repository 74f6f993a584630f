// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters and state: tp.parameter, tp.state and their table.

#include "Types.h"
#include "colrow/dialects/Plan/Plan.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

static std::unique_ptr<plan::SourceT> toSource(tp::SourceAttr attr) {
  auto source = std::make_unique<plan::SourceT>();
  source->name = attr.getName().str();
  source->file_shape = attr.getShape();
  source->reshape = attr.getReshape();
  source->start = attr.getStart();
  source->step = attr.getStep();
  source->size = attr.getSize();
  source->perm.assign(attr.getPerm().begin(), attr.getPerm().end());
  return source;
}

static std::unique_ptr<plan::InitT> toInit(tp::InitAttr attr) {
  auto init = std::make_unique<plan::InitT>();
  init->kind = plan::InitKind(uint32_t(attr.getKind()));
  init->mean = attr.getMean().getValueAsDouble();
  init->std = attr.getStd().getValueAsDouble();
  return init;
}

std::unique_ptr<plan::ParameterT>
planir::toParameter(Operation *op, uint32_t buffer, int32_t stateOf) {
  auto table = std::make_unique<plan::ParameterT>();
  RankedTensorType whole;
  table->init = std::make_unique<plan::InitT>();
  if (auto parameter = dyn_cast<tp::ParameterOp>(op)) {
    whole = parameter.getWholeType();
    table->id = parameter.getId();
    table->init = toInit(parameter.getInit());
    if (auto sources = parameter.getSource())
      for (auto attr : sources->getAsRange<tp::SourceAttr>())
        table->sources.push_back(toSource(attr));
  } else {
    auto state = cast<tp::StateOp>(op);
    whole = cast<RankedTensorType>(state.getWhole() ? *state.getWhole()
                                                    : state.getType());
    table->state_name = state.getName().str();
    table->master = state.getMaster();
  }
  table->name = SymbolTable::getSymbolName(op).str();
  table->dtype = toDType(whole.getElementType());
  table->shape = whole.getShape();
  table->dims = toDims(whole);
  table->buffer = buffer;
  table->state_of = stateOf;
  return table;
}

/// A bf16 parameter with a master is in files as that is, and so like an f32
/// one.
uint64_t
planir::fingerprint(ArrayRef<std::unique_ptr<plan::ParameterT>> parameters) {
  llvm::DenseSet<int32_t> withMaster;
  for (const auto &parameter : parameters)
    if (parameter->master)
      withMaster.insert(parameter->state_of);
  std::string description;
  llvm::raw_string_ostream os(description);
  auto print = [&](auto values) {
    for (auto value : values)
      os << ' ' << int64_t(value);
  };
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    if (parameter->master)
      continue;
    plan::DType type =
        withMaster.contains(i) ? plan::DType::f32 : parameter->dtype;
    os << parameter->name << ' ' << unsigned(type);
    print(parameter->shape);
    for (const auto &dim : parameter->dims) {
      os << " [";
      for (const auto &factor : dim->factors) {
        os << " {" << factor->size << ' ' << factor->padded << " over";
        print(factor->axes);
        os << '}';
      }
      os << ']';
    }
    os << '\n';
  }
  return llvm::xxh3_64bits(description);
}

/// `list`, or `identity` where tables leave it out.
static SmallVector<int64_t> orElse(ArrayRef<int64_t> list,
                                   ArrayRef<int64_t> identity) {
  return llvm::to_vector(list.empty() ? identity : list);
}

/// What the checker of files lets pass and the attribute does not is an error.
static Attribute fromSource(const plan::SourceT &source, Location loc) {
  SmallVector<int64_t> shape = orElse(source.reshape, source.file_shape);
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  SmallVector<int64_t> start = orElse(source.start, zeros);
  SmallVector<int64_t> step = orElse(source.step, ones);
  SmallVector<int64_t> size = orElse(source.size, shape);
  SmallVector<int64_t> perm(source.perm.begin(), source.perm.end());
  perm = orElse(perm, llvm::to_vector(llvm::seq<int64_t>(shape.size())));
  return tp::SourceAttr::getChecked(
      [&] { return emitError(loc); }, loc.getContext(), StringRef(source.name),
      ArrayRef<int64_t>(source.file_shape), ArrayRef(shape), ArrayRef(start),
      ArrayRef(step), ArrayRef(size), ArrayRef(perm));
}

static tp::InitAttr fromInit(const plan::InitT &init, Location loc) {
  Builder builder(loc.getContext());
  return tp::InitAttr::getChecked(
      [&] { return emitError(loc); }, loc.getContext(),
      tp::InitKind(uint32_t(init.kind)), builder.getF64FloatAttr(init.mean),
      builder.getF64FloatAttr(init.std));
}

LogicalResult planir::createParameter(OpBuilder &builder,
                                      const plan::ParameterT &parameter,
                                      const plan::BufferT &buffer,
                                      StringRef owner, tp::MeshAttr mesh) {
  MLIRContext *context = builder.getContext();
  bool isState = parameter.state_of >= 0;
  OperationState state(builder.getUnknownLoc(),
                       isState ? tp::StateOp::getOperationName()
                               : tp::ParameterOp::getOperationName());
  auto whole = fromDims(parameter.shape, parameter.dtype, parameter.dims, mesh,
                        /*withLayout=*/true);
  auto local =
      RankedTensorType::get(tp::localShape(whole), whole.getElementType());
  state.addAttribute("sym_name", builder.getStringAttr(parameter.name));
  state.addAttribute("type", TypeAttr::get(local));
  state.addAttribute("whole", TypeAttr::get(whole));
  state.addAttribute(getOffsetAttrName(),
                     builder.getI64IntegerAttr(buffer.offset));
  if (isState) {
    state.addAttribute("parameter", FlatSymbolRefAttr::get(context, owner));
    state.addAttribute("name", builder.getStringAttr(parameter.state_name));
    if (parameter.master)
      state.addAttribute("master", builder.getUnitAttr());
  } else {
    state.addAttribute("id", builder.getI64IntegerAttr(parameter.id));
    tp::InitAttr init = fromInit(*parameter.init, state.location);
    SmallVector<Attribute> sources;
    for (const auto &source : parameter.sources)
      sources.push_back(fromSource(*source, state.location));
    if (!init || llvm::is_contained(sources, Attribute()))
      return failure();
    state.addAttribute("init", init);
    if (!sources.empty())
      state.addAttribute("source", builder.getArrayAttr(sources));
  }
  builder.create(state);
  return success();
}
