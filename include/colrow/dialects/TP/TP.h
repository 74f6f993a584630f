// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tp dialect: attributes, interfaces and ops (docs/layouts.md).

#ifndef COLROW_DIALECTS_TP_TP_H
#define COLROW_DIALECTS_TP_TP_H

#include "colrow/Cost/WorkItem.h"
#include "colrow/Layout/FactorRule.h"
#include "colrow/Layout/Layout.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

namespace colrow::tp {
class RowLowering;
class PlanLowering;

/// What becomes of a result's gradient in an operand.
enum class GradientFlow {
  Built,  ///< the op's buildGradients gives it
  Zero,   ///< there is none: the result does not depend on the operand
  Missing ///< there is one, but no op computes it
};

namespace detail {
/// What a number of an attribute is in float32, in which kernels compute.
inline bool isFinite(double x) {
  return std::abs(x) <= std::numeric_limits<float>::max();
}
inline bool isPositive(double x) { return isFinite(x) && float(x) > 0; }
inline bool isNotNegative(double x) { return isFinite(x) && x >= 0; }
inline bool isFraction(double x) { return x >= 0 && x < 1; }
/// The values that padding may be given: of a sum, of a maximum.
inline bool isNeutral(double x) {
  return x == -std::numeric_limits<double>::infinity() ||
         double(int32_t(std::clamp(x, -2147483648.0, 2147483647.0))) == x;
}
} // namespace detail
} // namespace colrow::tp

namespace colrow::tp {
class RuleCache;
class ShardableOpInterface;
} // namespace colrow::tp

#include "colrow/dialects/TP/TPDialect.h.inc"

#include "colrow/dialects/TP/TPEnums.h.inc"

namespace colrow::tp {
class ParamOp;
class ParameterOp;
} // namespace colrow::tp

#define GET_ATTRDEF_CLASSES
#include "colrow/dialects/TP/TPAttributes.h.inc"

namespace colrow::tp {

/// Bytes that an element of a tensor of `type` takes in memory and in files. A
/// mask's element, i1, is a byte of its own.
inline int64_t elementBytes(mlir::Type type) {
  return llvm::divideCeil(
      mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth(), 8);
}
/// Whether values of `type` are floats: only these have gradients, are sums,
/// and may be partial or copied.
inline bool carriesGradient(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
}
inline bool carriesGradient(mlir::Value value) {
  return carriesGradient(value.getType());
}

/// Layout in the type of `value`, or null.
LayoutAttr getLayoutAttr(mlir::Type type);
inline LayoutAttr getLayoutAttr(mlir::Value value) {
  return getLayoutAttr(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
/// What the model calls an op or a value at `location`, or null.
mlir::StringAttr modelName(mlir::Location location);
/// `type` with another layout (null: none).
mlir::RankedTensorType withLayout(mlir::Type type, LayoutAttr layout);
/// Type of the gradient of a value of `type`: the dual layout.
mlir::RankedTensorType dualType(mlir::Type type);
/// `type` with elements of float32, which sums and statistics are kept in.
mlir::RankedTensorType inFloat32(mlir::Type type);
/// `type` with the elements of `like`.
mlir::RankedTensorType withElementsOf(mlir::Type type, mlir::Type like);
/// The read of the parameter that `value` is, in whatever state, shape or float
/// type; null for what is made.
ParamOp findParam(mlir::Value value);
/// The elements of the gradient of `value`, or of a rank's share of it: its
/// own, and float32 for parameters, whose gradients are sums over all rows,
/// unless their tp.param says of shares that they are rounded.
mlir::Type gradientElement(mlir::Value value, bool isShare);
/// The type of the gradient of `value`: dual to its own, with these elements.
mlir::RankedTensorType gradientType(mlir::Value value);
/// The numbers of `value` as `type`, which differs in the float type at most.
mlir::Value castTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                   mlir::Type type);
/// Shape of one rank's block; the whole shape without a layout.
llvm::SmallVector<int64_t> localShape(mlir::Type type);

/// Bytes of one rank's block of a value of `type`.
int64_t localBytes(mlir::Type type);

// Names of the discardable attributes; TPDialect verifies what they hold.

/// An op's way per axis, from tp-shard to tp-insert-conjugates.
inline llvm::StringRef getWaysAttrName() { return "tp.ways"; }
/// The number of the kernel that an op belongs to, from tp-fuse on.
inline llvm::StringRef getKernelAttrName() { return "tp.kernel"; }
/// The module's mesh, from tp-shard on.
inline llvm::StringRef getMeshAttrName() { return "tp.mesh"; }
/// The topology that a module is compiled for; without it the default holds.
inline llvm::StringRef getTopologyAttrName() { return "tp.topology"; }
/// On a function: it is forward only, to evaluate by. Without it a function is
/// trained.
inline llvm::StringRef getForwardAttrName() { return "tp.forward"; }
/// The work that tp-shard expects of a function, and what later passes added to
/// it.
inline llvm::StringRef getPredictedAttrName() { return "tp.predicted"; }
/// The work that tp-count found in it.
inline llvm::StringRef getCountedAttrName() { return "tp.counted"; }
/// The optimizer's numbers, from tp-optimize on.
inline llvm::StringRef getOptimizerAttrName() { return "tp.optimizer"; }
/// The model's config.json (colrow/dialects/TP/Config.h).
inline llvm::StringRef getConfigAttrName() { return "tp.config"; }
/// What the model's config.json calls it.
inline llvm::StringRef getModelTypeAttrName() { return "tp.model_type"; }
/// Name of the argument attribute, a tp.input, that says what fills it.
inline llvm::StringRef getInputAttrName() { return "tp.input"; }
/// Name of the attribute that says what a result is ("loss", "logits"), and of
/// the short form of tp.input ("ids", "labels").
inline llvm::StringRef getRoleAttrName() { return "tp.role"; }

/// The factor rule of `op`, bound to its shapes; an error if they do not fit.
llvm::Expected<const layout::FactorRule &> getRule(ShardableOpInterface op);
/// The way in which `op`, with `rule`, is used on the axis, by its ways; an
/// error at the op if they name none that the rule allows.
mlir::FailureOr<layout::Way> getChosenWay(mlir::Operation *op,
                                          const layout::FactorRule &rule,
                                          mlir::StringAttr axis);

/// True if two sources take the same element of one tensor of a checkpoint.
/// Known where both reshape it alike; other pairs count as apart.
bool overlap(SourceAttr a, SourceAttr b);

namespace detail {
/// Shape of the largest operand or result of `op`; {1} if all are scalars.
llvm::SmallVector<int64_t> largestShape(mlir::Operation *op);
/// Binds `text` to the shapes of `op`, whose operands and results are named, in
/// order and parted by spaces, by ODS. `count(i)` is the number of values of
/// operand i: 0 or 1.
llvm::Expected<layout::FactorRule>
bindRule(mlir::Operation *op, const layout::RuleText &text,
         llvm::StringRef operandNames, llvm::StringRef resultNames,
         llvm::function_ref<unsigned(unsigned)> count);
/// Rule of an element-wise op whose second operand lacks leading dimensions.
llvm::Expected<layout::FactorRule> bindBroadcast(mlir::Operation *op,
                                                 llvm::StringRef linear);
/// Whether a contraction of operands of `operand`'s element type may give
/// `result`: the same elements, or float32.
bool isProductType(mlir::Type result, mlir::Type operand);
/// Checks the shapes against the rule, and layouts against the four ways.
llvm::LogicalResult verifyShardable(mlir::Operation *op);
/// Checks that an op's `layout`, which says where `block` lies in the whole
/// tensor, fits it: one entry a dimension, the local sizes, contiguous blocks.
llvm::LogicalResult verifyPosition(mlir::Operation *op, mlir::Value block,
                                   LayoutAttr layout);
/// The same for the value that a shardable op indexes into.
llvm::LogicalResult verifyIndexedValue(mlir::Operation *op);
/// Checks that a parameter's sources make it up and take no element twice.
llvm::LogicalResult verifySources(ParameterOp op);
/// Checks that `part` is a block of `whole` along `dim`.
llvm::LogicalResult verifyBlocks(mlir::Operation *op, mlir::Value whole,
                                 mlir::Value part, int64_t dim);
/// Checks the state in which a value leaves the step under `name`, which `op`
/// lets out: C3 of tp.output.
llvm::LogicalResult verifyLeaving(mlir::Operation *op, llvm::StringRef name,
                                  mlir::RankedTensorType type);
/// Checks the axes of a collective: named once, and in the module's mesh.
llvm::LogicalResult verifyAxes(mlir::Operation *op);
llvm::LogicalResult verifyChange(mlir::Operation *op);
/// The value that a change of layout gives back: its operand's operand, if the
/// two changes undo each other. Null if there is none.
mlir::OpFoldResult foldChange(mlir::Operation *change);
/// The dimension whose factors a change of layout changes.
std::optional<int64_t> changedDimension(mlir::Operation *change);
/// The reduction that leads out of state `from`.
std::optional<Reduction> reductionOf(layout::StateKind from);
llvm::SmallVector<mlir::Value> buildConjugate(mlir::Operation *op,
                                              mlir::OpBuilder &builder,
                                              mlir::ValueRange gradients);
} // namespace detail
} // namespace colrow::tp

#include "colrow/dialects/TP/TPInterfaces.h.inc"

#define GET_OP_CLASSES
#include "colrow/dialects/TP/TPOps.h.inc"

namespace colrow::tp {
/// What becomes of the gradient of `result` in `operand` of the same op. Only
/// floats have gradients.
GradientFlow getGradientFlow(mlir::OpResult result, mlir::OpOperand &operand);
/// The change of layout that leads from one state to the other, of those that
/// `context` knows; none if no single one does.
std::optional<mlir::OperationName> findChange(mlir::MLIRContext *context,
                                              layout::StateKind from,
                                              layout::StateKind to);
/// What `op` does on one rank of `mesh`; none for symbols, aliases, changes of
/// layout that are no collectives yet.
std::optional<cost::WorkItem> workOf(mlir::Operation *op,
                                     const layout::Mesh &mesh);
} // namespace colrow::tp

#endif // COLROW_DIALECTS_TP_TP_H
