// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is no kernel: every broken line of a text, and every operand, type and
// argument that a kind of node does not take.

#include "colrow/Kernel/RowKernel.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

namespace colrow::kernel {
namespace {

/// Arguments of each type and access, values of each type and class.
constexpr const char *head = R"(kernel rows [2, 3] cols 4 ints 1
  arg0: f32 read offset 0 rows [12, 4] col 1
  arg1: f32 write offset 0 rows [12, 4] col 1
  arg2: f32 accumulate offset 0 rows [0, 0] col 1
  arg3: f32 accumulate offset 0 rows [0, 0] col 1
  arg4: i32 read offset 0 rows [3, 1] col 0
  arg5: bf16 write offset 0 rows [12, 4] col 1
  arg6: bf16 accumulate offset 0 rows [12, 4] col 1
  arg7: i1 write offset 0 rows [3, 1] col 0
  arg8: f32 accumulate offset 0 rows [0, 0] col 0
  arg9: f32 accumulate offset 4 rows [0, 0] col 1
  arg10: i32 accumulate offset 0 rows [0, 0] col 1
  arg11: f32 accumulate offset 0 rows [0, 0] col 2
  arg12: f32 accumulate offset 0 rows [4, 0] col 1
  arg13: f32 accumulate offset 0 rows [4, 0] col 1
  %0 = load arg0 offset 0 : f32 full
  %1 = load arg4 offset 0 : i32 row
  %2 = const 7 : i64 scalar
  %3 = compare lt %0 %0 : i1 full
  %4 = compare ge %2 %2 : i1 scalar
  %5 = col_index : i64 col
  %6 = row_index 1 : i64 row
  %7 = const 3f000000 (5.000000e-01) : f32 scalar
  %8 = int_arg 0 : i64 scalar
)";

std::string errorOf(llvm::StringRef text) {
  auto kernel = parseKernel(text);
  return kernel ? "" : llvm::toString(kernel.takeError());
}

struct Line {
  const char *line, *error;
};

/// Each line after `head`; a right one stands beside most wrong ones.
constexpr Line lines[] = {
    // Numbers of operands.
    {"%9 = neg : f32 full", "neg: found 0 operands, wanted 1"},
    {"%9 = neg %0 %0 : f32 full", "neg: found 2 operands, wanted 1"},
    {"%9 = add %0 : f32 full", "add: found 1 operands, wanted 2"},
    {"%9 = select %3 %0 : f32 full", "select: found 2 operands, wanted 3"},
    {"%9 = select %3 %-1 %0 : f32 full", "select: an operand is missing"},
    {"store arg1 offset 0 %0\n  %10 = neg %9 : f32 full",
     "neg: operand 0 is no value"},
    {"%9 = load_row arg0 stride 4 %1 %-2 : f32 full",
     "node 9 uses node -2, which does not stand before it"},
    // Arguments.
    {"%9 = load offset 0 : f32 full", "load: argument -1 does not exist"},
    {"%9 = load arg14 offset 0 : f32 full", "load: argument 14 does not exist"},
    {"%9 = load arg1 offset 0 : f32 full",
     "load: argument 1 is written; read through an argument of its own"},
    {"store arg0 offset 0 %0", "store: argument 0 is read only"},
    // Leaves.
    {"%9 = int_arg -1 : i64 scalar", "int_arg: integer -1 of 1"},
    {"%9 = int_arg 1 : i64 scalar", "int_arg: integer 1 of 1"},
    {"%9 = row_index -1 : i64 row", "row_index: row dimension -1 of 2"},
    {"%9 = row_index 2 : i64 row", "row_index: row dimension 2 of 2"},
    // Rows by index.
    {"%9 = load_row arg0 stride 4 %1 : f32 full", ""},
    {"%9 = load_row arg0 stride 4 %2 %4 : f32 full", ""},
    {"%9 = load_row arg0 stride 4 %7 : f32 full",
     "load_row: the index must be i32 or i64"},
    {"%9 = load_row arg0 stride 4 %4 : f32 full",
     "load_row: the index must be i32 or i64"},
    {"%9 = load_row arg0 stride 4 %5 : f32 full",
     "load_row: the index differs by column"},
    {"%9 = load_row arg0 stride 4 %1 %2 : f32 full",
     "load_row: the condition must be i1 and must not differ by column"},
    {"%9 = load_row arg0 stride 4 %1 %3 : f32 full",
     "load_row: the condition must be i1 and must not differ by column"},
    {"scatter_add_row arg2 stride 4 %1 %0 %4", ""},
    {"scatter_add_row arg2 stride 4 %7 %0",
     "scatter_add_row: the index must be i32 or i64"},
    {"scatter_add_row arg2 stride 4 %1 %0 %3",
     "scatter_add_row: the condition must be i1"},
    // Random numbers.
    {"%9 = philox stream 1 %2 %8 %6 : i32 row", ""},
    {"%9 = philox stream 1 %1 %8 %6 : i32 row",
     "philox: seed, step and index must be i64"},
    {"%9 = philox stream 1 %2 %1 %6 : i32 row",
     "philox: seed, step and index must be i64"},
    {"%9 = philox_uniform stream 1 %2 %8 %1 : f32 row",
     "philox_uniform: seed, step and index must be i64"},
    // Casts.
    {"%9 = cast %1 : f32 row", ""},
    {"%9 = cast %1 : i64 row", ""},
    {"%9 = cast %2 : f32 scalar", ""},
    {"%9 = cast %2 : i32 scalar", ""},
    {"%9 = cast %4 : f32 scalar", ""},
    {"%9 = cast %4 : i32 scalar", ""},
    {"%9 = cast %4 : i64 scalar", ""},
    {"%9 = cast %0 : i32 full", "cast: no such conversion"},
    {"%9 = cast %0 : i64 full", "cast: no such conversion"},
    {"%9 = cast %0 : i1 full", "cast: no such conversion"},
    {"%9 = cast %1 : i1 row", "cast: no such conversion"},
    {"%9 = cast %2 : i1 scalar", "cast: no such conversion"},
    {"%9 = cast %0 : f32 full", "cast: no such conversion"},
    {"%9 = cast %1 : none row", "cast: no such conversion"},
    // Types of values.
    {"%9 = neg %1 : i32 row", ""},
    {"%9 = abs %2 : i64 scalar", ""},
    {"%9 = neg %4 : i1 scalar", "neg: wanted f32, i32 or i64"},
    {"%9 = abs %4 : i1 scalar", "abs: wanted f32, i32 or i64"},
    {"%9 = exp %1 : f32 row", "exp: wanted f32"},
    {"%9 = sqrt %4 : f32 scalar", "sqrt: wanted f32"},
    {"%9 = is_finite %2 : i1 scalar", "is_finite: wanted f32"},
    {"%9 = not %4 : i1 scalar", ""},
    {"%9 = not %1 : i32 row", "not: wanted i1"},
    {"%9 = add %0 %1 : f32 full", "add: the operands' types differ"},
    {"%9 = add %4 %4 : i1 scalar", "add: wanted numbers, found i1"},
    {"%9 = compare eq %4 %4 : i1 scalar", "compare: wanted numbers, found i1"},
    {"%9 = div %1 %1 : i32 row", "div: wanted f32"},
    {"%9 = mul %1 %1 : i32 row", ""},
    {"%9 = and %3 %4 : i1 full", ""},
    {"%9 = and %1 %1 : i32 row", "and: wanted i1"},
    {"%9 = or %0 %0 : f32 full", "or: wanted i1"},
    {"%9 = select %3 %0 %7 : f32 full", ""},
    {"%9 = select %1 %0 %0 : f32 full", "select: the condition must be i1"},
    {"%9 = select %3 %0 %2 : f32 full", "select: the two values' types differ"},
    {"%9 = row_sum %0 : f32 row", ""},
    {"%9 = row_sum %1 : f32 row", "row_sum: wanted f32"},
    {"%9 = row_max %4 : f32 row", "row_max: wanted f32"},
    // Effects.
    {"store arg5 offset 0 %0", ""},
    {"store arg7 offset 0 %4", ""},
    {"store arg1 offset 0 %1", "store: the value's type is not the argument's"},
    {"store arg7 offset 0 %7", "store: the value's type is not the argument's"},
    {"store arg7 offset 0 %3",
     "store: the value differs by column, the argument does not"},
    {"store arg6 offset 0 %0",
     "store: wanted an f32 argument, found bf16: sums are kept in float32"},
    {"col_sum arg2 %0", ""},
    {"col_sum arg10 %1", "col_sum: wanted an f32 argument, found i32"},
    {"col_sum arg1 %0", "col_sum: the argument's row strides must be 0, its "
                        "column stride not"},
    {"col_sum arg8 %0", "col_sum: the argument's row strides must be 0, its "
                        "column stride not"},
    {"total_sum arg8 %0", ""},
    {"total_sum arg1 %0", "total_sum: the argument must be one element"},
    {"total_sum arg2 %0", "total_sum: the argument must be one element"},
    // Scratch of long sums.
    {"col_sum arg2 arg3 %0", ""},
    {"col_sum arg2 arg2 %0", "col_sum: argument 2 is no scratch"},
    {"col_sum arg2 arg14 %0", "col_sum: argument 14 is no scratch"},
    {"store arg1 arg3 offset 0 %0",
     "store: only sums of f32 over rows keep what they lose"},
    {"store arg2 arg3 offset 1 %0",
     "store: only sums of f32 over rows keep what they lose"},
    {"store arg10 arg3 offset 0 %1",
     "store: only sums of f32 over rows keep what they lose"},
    {"total_sum arg8 arg3 %0",
     "total_sum: only sums of f32 over rows keep what they lose"},
    {"col_sum arg2 arg10 %0",
     "col_sum: scratch must be f32, accumulated into, at offset 0"},
    {"col_sum arg2 arg1 %0",
     "col_sum: scratch must be f32, accumulated into, at offset 0"},
    {"col_sum arg2 arg9 %0",
     "col_sum: scratch must be f32, accumulated into, at offset 0"},
    {"col_sum arg2 arg11 %0",
     "col_sum: scratch must have the argument's strides"},
    {"col_sum arg2 arg12 %0",
     "col_sum: scratch must have the argument's strides"},
    {"store arg2 arg3 offset 0 %0", ""},
    {"scatter_add_row arg2 arg3 stride 4 %1 %0", ""},
    {"store arg12 arg13 offset 0 %0",
     "store: the dimensions summed over must be the leading ones"},
    {"scatter_add_row arg11 arg3 stride 4 %1 %0",
     "scatter_add_row: a scatter's columns must be adjacent"},
    {"scatter_add_row arg2 arg12 stride 4 %1 %0",
     "scatter_add_row: a scatter's columns must be adjacent"},
    // Immediates.
    {"%9 = compare lq %0 %0 : i1 full", "line 25 is not one"},
    {"%9 = const g000000 (0.000000e+00) : f32 scalar", "line 25 is not one"},
    {"%9 = add %0 %0 : f64 full", "line 25 is not one"},
    {"%9 = add %0 %0 : i32 full", "line 25 is not one"},
    {"%9 = select %3 %0 %0 %0 : f32 full", "line 25 is not one"},
    {"%x = neg %0 : f32 full", "line 25 is not one"},
    {"%9 = const 1 %-1 : i32 scalar", "line 25 is not one"},
    {"arg15: f32 read offset 0 rows [12, 4] col 1", "line 25 is not one"},
    {"arg14: f64 read offset 0 rows [12, 4] col 1", "line 25 is not one"},
    {"arg14: f32 read offset 0 rows [12] col 1",
     "arg14 has 1 row strides, wanted one for each of the 2 row dimensions"},
};

TEST(KernelRefusals, EveryKindOfNodeTakesItsOwnOnly) {
  ASSERT_EQ(errorOf(head), "");
  for (const Line &line : lines) {
    std::string text = errorOf(std::string(head) + "  " + line.line + "\n");
    if (!*line.error)
      EXPECT_EQ(text, "") << line.line;
    EXPECT_NE(text.find(line.error), std::string::npos)
        << line.line << ": " << text;
  }
}

/// A text is read only if it is just what its kernel prints, empty lines apart.
void expectRefusedOrSame(llvm::StringRef text) {
  auto kernel = parseKernel(text);
  if (!kernel) {
    EXPECT_NE(llvm::toString(kernel.takeError()), "") << text.str();
    return;
  }
  std::string printed = kernel->canonical();
  llvm::SmallVector<llvm::StringRef> found, wanted;
  text.split(found, '\n', -1, /*KeepEmpty=*/false);
  llvm::StringRef(printed).split(wanted, '\n', -1, /*KeepEmpty=*/false);
  EXPECT_EQ(found, wanted) << text.str();
}

/// Words, punctuation and numbers that are left out, or are others.
TEST(KernelRefusals, EveryBrokenWordIsRefused) {
  std::string text = head;
  text += "  %9 = load_row arg0 stride 4 %1 %4 : f32 full\n"
          "  %10 = philox_uniform stream 3 %2 %8 %5 : f32 col\n"
          "  store arg1 offset 0 %9\n"
          "  scatter_add_row arg2 arg3 stride 4 %1 %10\n";
  ASSERT_EQ(errorOf(text), "");
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    bool isWord = llvm::isAlnum(text[begin]);
    for (end = begin + 1; isWord && llvm::isAlnum(text[end]);)
      ++end;
    std::string before = text.substr(0, begin), after = text.substr(end);
    for (const char *other : {"", "-1", "x", "99999999999999999999", "[", "]"})
      expectRefusedOrSame(before + other + after);
    // All that follows is missing.
    expectRefusedOrSame(before);
  }
}

} // namespace
} // namespace colrow::kernel
