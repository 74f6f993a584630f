// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Module, parameters, and one function for each op that a model uses.

#include "GraphBuilder.h"
#include "colrow/dialects/TP/Config.h"

using namespace llvm;
using namespace mlir;

namespace colrow::import {

/// Labels that count for nothing, as transformers has them.
static constexpr int64_t ignoredLabel = -100;

GraphBuilder::GraphBuilder(MLIRContext &context, const GraphShape &shape,
                           std::string droppedPrefix)
    : context(&context), body(&context), symbols(&context),
      here(UnknownLoc::get(&context)), droppedPrefix(std::move(droppedPrefix)) {
  createModule(shape);
  createMain(shape);
}

void GraphBuilder::createModule(const GraphShape &shape) {
  enter(shape.modelType);
  module = ModuleOp::create(here);
  auto set = [&](StringRef name, Attribute value) {
    (*module)->setAttr(name, value);
  };
  set(tp::getModelTypeAttrName(), body.getStringAttr(shape.modelType));
  tp::setConfig(*module, shape.config);
}

void GraphBuilder::createMain(const GraphShape &shape) {
  int64_t b = shape.batch, s = shape.seq;
  Type i32 = body.getI32Type();
  SmallVector<Type, 2> arguments = {RankedTensorType::get({b, s}, i32),
                                    RankedTensorType::get({b, s + 1}, i32)};
  SmallVector<Type, 2> results = {tensorOf({}), tensorOf({b, s, shape.vocab})};
  symbols.setInsertionPointToEnd(module->getBody());
  main = func::FuncOp::create(symbols, here, "main",
                              body.getFunctionType(arguments, results));
  body.setInsertionPointToEnd(main.addEntryBlock());
  auto input = [&](unsigned index, tp::InputRole role, StringRef name,
                   int64_t padding) {
    main.getArgument(index).setLoc(
        NameLoc::get(StringAttr::get(context, name)));
    main.setArgAttr(
        index, tp::getInputAttrName(),
        tp::InputAttr::get(context, role, name, 0, 0, shape.vocab, padding));
  };
  input(0, tp::InputRole::Ids, "input_ids", 0);
  input(1, tp::InputRole::Labels, "labels", ignoredLabel);
  StringRef role = tp::getRoleAttrName();
  main.setResultAttr(0, role, body.getStringAttr("loss"));
  main.setResultAttr(1, role, body.getStringAttr("logits"));
  symbols.setInsertionPoint(main);
}

void GraphBuilder::enter(const Twine &modulePath) {
  here = NameLoc::get(StringAttr::get(context, modulePath));
}

RankedTensorType GraphBuilder::tensorOf(ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, body.getF32Type());
}

/// The shape of `x` with another last dimension.
static SmallVector<int64_t> withLast(ArrayRef<int64_t> shape, int64_t last) {
  SmallVector<int64_t> result(shape);
  result.back() = last;
  return result;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

tp::SourceAttr GraphBuilder::sourceOf(const ParameterSpec &spec) {
  StringRef name = spec.tensor;
  name.consume_front(droppedPrefix);
  size_t rank = spec.shape.size();
  SmallVector<int64_t, 2> start(rank, 0), step(rank, 1), size(spec.shape), perm;
  if (!spec.part.empty()) {
    start.back() = spec.partStart;
    size.back() = spec.partSize;
  }
  for (size_t d = 0; d < rank; ++d)
    perm.push_back(spec.transposed ? rank - 1 - d : d);
  return tp::SourceAttr::get(context, name, spec.shape, spec.shape, start, step,
                             size, perm);
}

Value GraphBuilder::parameter(const ParameterSpec &spec) {
  tp::SourceAttr source = sourceOf(spec);
  SmallVector<int64_t, 2> shape;
  for (int64_t d : source.getPerm())
    shape.push_back(source.getSize()[d]);
  RankedTensorType type = tensorOf(shape);
  std::string name = spec.tensor;
  if (!spec.part.empty())
    name += "." + spec.part;
  tp::ParameterOp::Properties properties;
  properties.sym_name = body.getStringAttr(name);
  properties.type = TypeAttr::get(type);
  properties.id = body.getI64IntegerAttr(nextParameter++);
  properties.init = spec.init;
  properties.source = body.getArrayAttr({source});
  properties.rank = body.getI64IntegerAttr(spec.shape.size());
  tp::ParameterOp::create(symbols, here, TypeRange(), ValueRange(), properties);
  return tp::ParamOp::create(body, here, type,
                             FlatSymbolRefAttr::get(context, name));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value GraphBuilder::matmul(Value x, Value weight) {
  Type type = tensorOf(withLast(tp::shapeOf(x), tp::shapeOf(weight).front()));
  return tp::MatmulOp::create(body, here, type, x, weight);
}

Value GraphBuilder::add(Value lhs, Value rhs) {
  return tp::AddOp::create(body, here, lhs.getType(), lhs, rhs);
}

Value GraphBuilder::mul(Value lhs, Value rhs) {
  return tp::MulOp::create(body, here, lhs.getType(), lhs, rhs);
}

Value GraphBuilder::embedding(Value ids, Value table) {
  SmallVector<int64_t> shape(tp::shapeOf(ids));
  shape.push_back(tp::shapeOf(table).back());
  return tp::EmbeddingOp::create(body, here, tensorOf(shape), ids, table,
                                 tp::LayoutAttr());
}

Value GraphBuilder::takeRows(Value table, int64_t count) {
  Type type = tensorOf({count, tp::shapeOf(table).back()});
  return tp::TakeRowsOp::create(body, here, type, table);
}

Value GraphBuilder::activation(Value x, Activation kind) {
  switch (kind) {
  case Activation::Relu:
    return tp::ReluOp::create(body, here, x.getType(), x);
  case Activation::Silu:
    return tp::SiluOp::create(body, here, x.getType(), x);
  case Activation::GeluExact:
  case Activation::GeluTanh:
    break;
  }
  return tp::GeluOp::create(body, here, x.getType(), x,
                            /*tanh=*/kind == Activation::GeluTanh);
}

Value GraphBuilder::dropout(Value x, double p) {
  if (p == 0.0)
    return x;
  return tp::DropoutOp::create(
      body, here, x.getType(), x, body.getF64FloatAttr(p),
      body.getI64IntegerAttr(nextDropout++), tp::LayoutAttr());
}

Value GraphBuilder::layerNorm(Value x, Value gamma, Value beta, double eps) {
  return tp::LayerNormOp::create(body, here, x.getType(), x, gamma, beta,
                                 body.getF64FloatAttr(eps));
}

Value GraphBuilder::rmsNorm(Value x, Value gamma, double eps) {
  return tp::RmsNormOp::create(body, here, x.getType(), x, gamma,
                               body.getF64FloatAttr(eps));
}

Value GraphBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  return tp::ReshapeOp::create(body, here, tensorOf(shape), x);
}

Value GraphBuilder::rotary(Value x, ArrayRef<double> frequencies) {
  return tp::RotaryOp::create(body, here, x.getType(), x,
                              body.getDenseF64ArrayAttr(frequencies),
                              body.getF64FloatAttr(1.0));
}

Value GraphBuilder::attention(Value q, Value k, Value v,
                              const AttentionShape &shape,
                              ArrayRef<double> frequencies) {
  int64_t b = tp::shapeOf(q)[0], s = tp::shapeOf(q)[1];
  int64_t m = shape.groups, g = shape.perGroup, d = shape.headDim;
  Value queries = reshape(q, {b, s, m, g, d});
  Value keys = reshape(k, {b, s, m, d});
  Value values = reshape(v, {b, s, m, d});
  if (!frequencies.empty()) {
    queries = rotary(queries, frequencies);
    keys = rotary(keys, frequencies);
  }
  int64_t id = shape.dropout == 0.0 ? 0 : nextDropout++;
  auto attention = tp::AttentionOp::create(
      body, here, queries.getType(), tensorOf({b, s, m, g}), queries, keys,
      values, body.getF64FloatAttr(shape.scale), body.getUnitAttr(),
      body.getF64FloatAttr(shape.dropout), body.getI64IntegerAttr(id),
      tp::LayoutAttr());
  return reshape(attention.getY(), {b, s, m * g * d});
}

OwningOpRef<ModuleOp> GraphBuilder::finish(Value logits) {
  enter("loss");
  Value labels = main.getArgument(1);
  Type shifted = RankedTensorType::get(tp::shapeOf(ids()), body.getI32Type());
  Type scalar = tensorOf({});
  Value next = tp::ShiftLabelsOp::create(body, here, shifted, labels);
  auto loss =
      tp::CrossEntropyOp::create(body, here, scalar, scalar, logits, next,
                                 body.getI64IntegerAttr(ignoredLabel));
  Value mean =
      tp::MeanOp::create(body, here, scalar, loss.getSum(), loss.getCount());
  func::ReturnOp::create(body, here, ValueRange{mean, logits});
  return std::move(module);
}

} // namespace colrow::import
