// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row kernels: memory-bound work along the columns of many rows, as a small
// target-neutral expression graph, and the builder that makes them.
//
// Invariant of a RowKernel made by RowKernelBuilder::finish: nodes stand in
// the order of their dependences, every operand, argument and type fits its
// node, and equal expressions are one node.

#ifndef COLROW_KERNEL_ROWKERNEL_H
#define COLROW_KERNEL_ROWKERNEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace colrow::kernel {

/// Element type of an argument's memory. Values are computed in float32 from
/// bf16, which a store rounds to nearest, ties to even; an i1 is a byte that
/// holds 0 or 1.
enum class Elem : uint8_t { F32, I32, I64, BF16, I1 };

/// Type of a node's value; None for those that only have an effect.
enum class Type : uint8_t { None, F32, I32, I64, I1 };

/// What a kernel does with an argument. Accumulate: store, colSum and totalSum
/// add to what is there instead of replacing it.
enum class Access : uint8_t { Read, Write, Accumulate };

/// A pointer argument and how (row, col) addresses it, all in elements:
/// offset + sum_d rowIndex[d] * rowStrides[d] + col * colStride.
/// A zero stride broadcasts. The base pointer is 64-byte aligned; a written
/// argument may be the same buffer, with the same element type and strides, as
/// one that is read element by element.
struct Arg {
  Elem elem = Elem::F32;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> rowStrides;
  int64_t colStride = 1;
  Access access = Access::Read;

  bool operator==(const Arg &other) const;
};

enum class NodeKind : uint8_t {
  // Leaves.
  ConstF32,
  ConstI32,
  ConstI64,
  IntArg,
  RowIndex,
  ColIndex,
  Load,
  LoadRow,
  Philox,
  PhiloxUniform,
  // Unary.
  Cast,
  Neg,
  Exp,
  Log,
  Tanh,
  Erf,
  Sqrt,
  Rsqrt,
  Abs,
  Reciprocal,
  IsFinite,
  Not,
  // Binary.
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  And,
  Or,
  Compare,
  // Ternary.
  Select,
  // Reductions over the columns of a row.
  RowSum,
  RowMax,
  // Effects.
  Store,
  ColSum,
  TotalSum,
  ScatterAddRow,
};

enum class Predicate : uint8_t { Lt, Le, Eq, Ne, Gt, Ge };

/// One node. `imm` is, by kind: the constant (float bits for ConstF32), k of
/// IntArg, the dimension of RowIndex, the column offset of Load and Store, the
/// stream of Philox, the index stride of LoadRow and ScatterAddRow.
/// Operands, in order: LoadRow index, [valid]; Philox seed, step, index;
/// Select condition, then, else; ScatterAddRow index, value, [valid].
struct Node {
  NodeKind kind = NodeKind::ConstF32;
  Type type = Type::None;
  Predicate predicate = Predicate::Lt;
  /// Whether the value differs from row to row, and from column to column.
  bool byRow = false, byCol = false;
  int32_t arg = -1;
  /// Of long sums: the argument that keeps what is not yet in `arg`.
  int32_t scratch = -1;
  std::array<int32_t, 3> operands = {-1, -1, -1};
  int64_t imm = 0;

  bool operator==(const Node &other) const;
};

/// A kernel over rows[0] x rows[1] x ... rows of `cols` columns; no `rows` is
/// one row. `numInts` is the length of the integers passed at a call.
struct RowKernel {
  llvm::SmallVector<int64_t, 4> rows;
  int64_t cols = 0;
  llvm::SmallVector<Arg, 8> args;
  llvm::SmallVector<Node, 32> nodes;
  unsigned numInts = 0;

  int64_t numRows() const;
  bool operator==(const RowKernel &other) const;
  bool operator!=(const RowKernel &other) const { return !(*this == other); }

  /// One line an argument and a node; equal kernels print equally.
  void print(llvm::raw_ostream &os) const;
  /// What `print` writes: the key under which equal kernels are compiled once.
  std::string canonical() const;
};

llvm::hash_code hash_value(const RowKernel &kernel);

int64_t elemBytes(Elem elem);

/// Checks the invariant of the file comment.
llvm::Error verify(const RowKernel &kernel);

/// The kernel whose canonical text this is, or the line that is none.
llvm::Expected<RowKernel> parseKernel(llvm::StringRef text);

/// Bytes upward from argument `arg`'s pointer that every call touches, gathers
/// and scatters by index apart.
int64_t extentBytes(const RowKernel &kernel, unsigned arg);

/// The arguments that may be the same memory as the written argument `arg`:
/// each of their elements is read only where that element is written.
llvm::SmallVector<int64_t> getInPlaceArgs(const RowKernel &kernel,
                                          unsigned arg);

class RowKernelBuilder;

/// A value in a RowKernelBuilder. Arithmetic operators work on equal types; a
/// float on one side is a constant.
struct Expr {
  RowKernelBuilder *builder = nullptr;
  int32_t node = -1;
};

/// Builds a RowKernel. The first misuse (wrong type, wrong class of value) is
/// remembered and comes out of `finish`, so calls can be chained freely.
class RowKernelBuilder {
public:
  RowKernelBuilder(llvm::ArrayRef<int64_t> rows, int64_t cols);

  /// Adds an argument; its index is also its place in the call's pointers.
  int arg(Arg arg);
  int arg(Elem elem, Access access, llvm::ArrayRef<int64_t> rowStrides,
          int64_t colStride = 1, int64_t offset = 0);
  /// An argument of the kernel's own dense shape [rows..., cols].
  int denseArg(Elem elem, Access access);
  /// One value a row: dense over `rows`, column stride 0.
  int rowArg(Elem elem, Access access);
  /// One value a column: row strides 0, column stride 1.
  int colArg(Elem elem, Access access);
  /// One value for all rows and columns.
  int scalarArg(Elem elem, Access access = Access::Read);

  /// The element of `arg` at (row, col + colOffset).
  Expr load(int arg, int64_t colOffset = 0);
  /// The element of `arg` at (row, col), `index * indexStride` further on.
  /// `index` (i32 or i64) and `valid` (i1) must not differ by column. Where
  /// `valid` is false the result is 0 and memory is not touched.
  Expr loadRow(int arg, Expr index, int64_t indexStride,
               std::optional<Expr> valid = std::nullopt);

  Expr constF32(float value);
  Expr constI32(int32_t value);
  Expr constI64(int64_t value);
  /// i64: index in row dimension `dim`, column, k-th integer of the call.
  Expr rowIndex(unsigned dim);
  Expr colIndex();
  Expr intArg(unsigned k);

  /// i32 -> f32, i64 -> f32, i1 -> f32, i32 -> i64 (signed), i64 -> i32 (low
  /// word), i1 -> i32, i1 -> i64; the same type is no change.
  Expr cast(Expr x, Type type);

  /// f32; neg and abs also i32 and i64. IEEE behaviour at infinities and NaN:
  /// exp(-inf) = 0, log(0) = -inf, tanh and erf saturate at +-1. exp gives 0
  /// below 2^-125.
  Expr neg(Expr x);
  Expr exp(Expr x);
  Expr log(Expr x);
  Expr tanh(Expr x);
  Expr erf(Expr x);
  Expr sqrt(Expr x);
  Expr rsqrt(Expr x);
  Expr abs(Expr x);
  Expr reciprocal(Expr x);
  /// i1: neither infinite nor NaN.
  Expr isFinite(Expr x);

  /// Operands of one type: f32, i32 or i64 (div: f32 only). max and min give
  /// NaN when either operand is NaN.
  Expr add(Expr a, Expr b);
  Expr sub(Expr a, Expr b);
  Expr mul(Expr a, Expr b);
  Expr div(Expr a, Expr b);
  Expr max(Expr a, Expr b);
  Expr min(Expr a, Expr b);

  /// i1. Ordered on f32 except Ne: any comparison with NaN but Ne is false.
  /// Integers are signed.
  Expr cmp(Predicate predicate, Expr a, Expr b);
  Expr lt(Expr a, Expr b) { return cmp(Predicate::Lt, a, b); }
  Expr le(Expr a, Expr b) { return cmp(Predicate::Le, a, b); }
  Expr eq(Expr a, Expr b) { return cmp(Predicate::Eq, a, b); }
  Expr ne(Expr a, Expr b) { return cmp(Predicate::Ne, a, b); }
  Expr gt(Expr a, Expr b) { return cmp(Predicate::Gt, a, b); }
  Expr ge(Expr a, Expr b) { return cmp(Predicate::Ge, a, b); }
  /// i1 operands.
  Expr logicalAnd(Expr a, Expr b);
  Expr logicalOr(Expr a, Expr b);
  Expr logicalNot(Expr x);
  Expr select(Expr condition, Expr thenValue, Expr elseValue);

  /// f32: sum and maximum over the `cols` columns of this row, in an order
  /// that depends on `cols` only. A value equal in all columns counts `cols`
  /// times in the sum.
  Expr rowSum(Expr x);
  Expr rowMax(Expr x);

  /// Philox4x32-10 (Salmon et al., SC'11), word 0 of the block with
  /// key = {lo32(seed), hi32(seed)},
  /// counter = {lo32(index), hi32(index), stream, lo32(step)}.
  /// seed, step and index are i64. `philox` is the word as i32,
  /// `philoxUniform` is (word >> 8) * 2^-24, in [0, 1).
  Expr philox(Expr seed, uint32_t stream, Expr step, Expr index);
  Expr philoxUniform(Expr seed, uint32_t stream, Expr step, Expr index);

  /// Element of `arg` at (row, col + colOffset) = value (+= for Accumulate,
  /// whose element is f32, i32 or i64: sums are never kept in bf16).
  /// All loads of an element come before the stores to it. With column stride
  /// 0 the value must not differ by column and is stored once a row.
  void store(int arg, Expr value, int64_t colOffset = 0);
  /// arg[col] = sum of f32 `value` over all rows (+= for Accumulate). Row
  /// strides must be 0, the column stride not. One sum an argument, here and in
  /// totalSum. Rows are added one after another in float; see keepLost for
  /// many.
  void colSum(int arg, Expr value);
  /// The one f32 at arg = sum of `value` over rows and columns (+= for
  /// Accumulate), in float over at most 4096 columns, then in double. A value
  /// equal in all columns counts once a row.
  void totalSum(int arg, Expr value);
  /// For each row in turn: f32 element of `arg` at (row, col),
  /// `index * indexStride` further on, += value. Nothing is touched where
  /// `valid` is false. The kernel never zeroes `arg`.
  void scatterAddRow(int arg, Expr index, int64_t indexStride, Expr value,
                     std::optional<Expr> valid = std::nullopt);

  /// The last effect, a sum of f32 over many rows (colSum, scatterAddRow, or an
  /// accumulating store whose leading row strides are 0 and others are not), is
  /// exact to a few rounding errors however many rows there are: `sumBlock` of
  /// them are added plainly, and more with compensation (Kahan, 1965). For that
  /// it needs a zeroed argument of its own, with Access::Accumulate:
  /// - colSum and store: as `arg`, but twice its elements (sumScratch);
  /// - scatterAddRow: strides 0, scatterScratch elements.
  void keepLost(int scratch);

  Type typeOf(Expr x) const;
  llvm::Expected<RowKernel> finish();

private:
  Expr append(Node node);
  Expr unary(NodeKind kind, Expr x);
  Expr binary(NodeKind kind, Expr a, Expr b);

  RowKernel kernel;
  std::string firstError;
};

/// Terms that a long sum adds in float without compensation: their rounding
/// errors stay below 4e-6 of the sum of their sizes.
inline constexpr int64_t sumBlock = 64;

/// f32 elements of scratch for keepLost: of a sum into `elements`, and of a
/// scatter of `rows` rows of `cols` into a table of `tableRows`.
int64_t sumScratch(int64_t elements);
int64_t scatterScratch(int64_t rows, int64_t cols, int64_t tableRows);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr x);
Expr operator+(Expr a, float b);
Expr operator-(Expr a, float b);
Expr operator*(Expr a, float b);
Expr operator/(Expr a, float b);
Expr operator+(float a, Expr b);
Expr operator-(float a, Expr b);
Expr operator*(float a, Expr b);
Expr operator/(float a, Expr b);

} // namespace colrow::kernel

#endif // COLROW_KERNEL_ROWKERNEL_H
