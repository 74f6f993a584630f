// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op sees when it adds itself to a row kernel: its operands at the
// current row and column, whether they come from memory or from another op of
// the same kernel, and places for its results.

#ifndef COLROW_DIALECTS_TP_ROWLOWERING_H
#define COLROW_DIALECTS_TP_ROWLOWERING_H

#include "colrow/Kernel/RowKernel.h"
#include "colrow/dialects/TP/TP.h"
#include "colrow/runtime/Plan/PlanLimits.h"
#include <functional>
#include <optional>

namespace colrow::tp {

/// How a kernel over space [rows..., cols] touches a value.
enum class Access : uint8_t {
  Full,     ///< one element per row and column: shape [rows..., cols]
  Row,      ///< one per row: shape [rows...]
  Trailing, ///< lacks leading dimensions: a suffix of [rows..., cols]
  Scalar,   ///< one for all
  Other     ///< by an argument of the op's own making (gathers, halves)
};

/// A table of floats that is known at compile time. It is made once for all
/// uses with equal keys, and only where its content is wanted.
struct ConstantTable {
  llvm::StringRef name; ///< what the module's table is called
  mlir::Attribute key;  ///< says all that the content depends on
  llvm::SmallVector<int64_t, 2> shape;
  std::function<llvm::SmallVector<float>()> make;

  int64_t getBytes() const {
    return mlir::ShapedType::getNumElements(shape) * sizeof(float);
  }
};

/// A pointer argument of the finished kernel.
struct RowArgument {
  mlir::Value value; ///< null: the block of scalars that the host sets
  bool written = false;
  /// The kernel adds to it, so the plan zeroes it first.
  bool zeroFirst = false;
  /// A constant table instead of a value.
  std::optional<ConstantTable> constant;
  /// Scratch of so many f32 for this kernel alone instead of a value.
  int64_t scratch = 0;
};

/// Size of dimension `dim` of the whole tensor with `layout`; `local` is the
/// size of a block.
int64_t wholeSize(LayoutAttr layout, unsigned dim, int64_t local);

/// Builds one row kernel from one or more ops over one space.
class RowLowering {
public:
  /// `escapes(v)` says whether result `v` is read outside the kernel and so
  /// must be stored.
  RowLowering(llvm::ArrayRef<int64_t> space,
              llvm::function_ref<bool(mlir::Value)> escapes);

  kernel::RowKernelBuilder &builder() { return rows; }
  /// Shape [rows..., cols] of the kernel.
  llvm::ArrayRef<int64_t> getSpace() const { return space; }

  kernel::Expr full(mlir::Value value) { return get(value, Access::Full); }
  kernel::Expr row(mlir::Value value) { return get(value, Access::Row); }
  kernel::Expr trailing(mlir::Value value) {
    return get(value, Access::Trailing);
  }
  kernel::Expr scalar(mlir::Value value) { return get(value, Access::Scalar); }
  /// `number` in the type of `x`: f32, i32 or i64.
  kernel::Expr constantLike(kernel::Expr x, double number);

  void setFull(mlir::Value result, kernel::Expr value);
  void setRow(mlir::Value result, kernel::Expr value);
  void setScalar(mlir::Value result, kernel::Expr value);
  /// result = sum over rows (and, for Scalar, columns).
  void setTrailingSum(mlir::Value result, kernel::Expr value);
  void setScalarSum(mlir::Value result, kernel::Expr value);

  /// Element `k` of a small vector, the same for all rows and columns.
  kernel::Expr element(mlir::Value value, int64_t k);
  /// Element `k` of `result` = sum over rows and columns.
  void setElementSum(mlir::Value result, int64_t k, kernel::Expr value);

  /// An argument of the op's own making for `value`.
  int argument(mlir::Value value, kernel::Arg arg, bool written = false,
               bool zeroFirst = false);
  /// Lets the last effect, a scatter into a table of `tableRows` rows, keep
  /// what rounding loses, if many rows are added.
  void keepLostOfScatter(int64_t tableRows);
  int constantTable(ConstantTable table, kernel::Arg arg);

  /// Set by the host before a step.
  kernel::Expr learningRate() {
    return scalarBlock(offsetof(runtime::ScalarBlock, learningRate),
                       kernel::Elem::F32);
  }
  kernel::Expr biasCorrection1() {
    return scalarBlock(offsetof(runtime::ScalarBlock, bias1),
                       kernel::Elem::F32);
  }
  kernel::Expr biasCorrection2() {
    return scalarBlock(offsetof(runtime::ScalarBlock, bias2),
                       kernel::Elem::F32);
  }
  kernel::Expr seed() {
    return scalarBlock(offsetof(runtime::ScalarBlock, seed), kernel::Elem::I64);
  }
  kernel::Expr step() {
    return scalarBlock(offsetof(runtime::ScalarBlock, step), kernel::Elem::I64);
  }
  /// This rank's coordinate on mesh axis `axis`.
  kernel::Expr coordinate(unsigned axis) {
    return scalarBlock(runtime::coordinateOffset(axis), kernel::Elem::I64);
  }

  /// i64: index along dimension `dim` of the whole tensor with `layout`, given
  /// the index `local` in this rank's block. May lie beyond the end: padding.
  kernel::Expr globalIndex(LayoutAttr layout, unsigned dim, kernel::Expr local);
  /// i64: what to subtract from an index into the whole dimension to get one
  /// into this rank's block.
  kernel::Expr blockStart(LayoutAttr layout, unsigned dim);

  /// Arguments in the kernel's order.
  llvm::ArrayRef<RowArgument> getArguments() const { return arguments; }
  /// The kernel, or the first misuse of this class.
  llvm::Expected<kernel::RowKernel> finish();

  /// How each value was touched; fusion goes by it.
  struct Use {
    mlir::Value value;
    Access access;
    bool written;
  };
  llvm::ArrayRef<Use> getUses() const { return uses; }

private:
  kernel::Expr get(mlir::Value value, Access access);
  int argumentFor(mlir::Value value, Access access, bool written,
                  bool zeroFirst = false);
  kernel::Expr scalarBlock(int64_t byte, kernel::Elem elem);
  void checkShape(mlir::Value value, Access access);
  void noteSum(mlir::Value result);
  kernel::Arg elementArg(int64_t k) const;
  void keepLost(mlir::Value result);
  void keepLostIn(kernel::Arg arg, int64_t elements);

  llvm::SmallVector<int64_t> space;
  llvm::function_ref<bool(mlir::Value)> escapes;
  kernel::RowKernelBuilder rows;
  llvm::SmallVector<RowArgument> arguments;
  llvm::SmallVector<Use> uses;
  llvm::DenseMap<mlir::Value, kernel::Expr> computed;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, int> loaded;
  llvm::DenseMap<int64_t, int> scalars;
  llvm::DenseSet<mlir::Value> sums;
  std::string misuse;
};

} // namespace colrow::tp

#endif // COLROW_DIALECTS_TP_ROWLOWERING_H
