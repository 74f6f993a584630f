// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops on bf16, i64 and masks as row kernels that run.

#include "colrow/dialects/TP/RowLowering.h"
#include "Harness.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/bit.h"

using namespace colrow;
using kernel::Buffer;
using kernel::Floats;

namespace {

using Bits = Buffer<uint16_t>;

float wide(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

/// Exactly these numbers in bf16.
std::vector<uint16_t> bf16(const std::vector<float> &values) {
  std::vector<uint16_t> result;
  for (float x : values) {
    result.push_back(uint16_t(llvm::bit_cast<uint32_t>(x) >> 16));
    EXPECT_EQ(wide(result.back()), x);
  }
  return result;
}

/// Random numbers of 3 bits, which bf16 holds, and so do their sums.
std::vector<float> smallFloats(size_t count, unsigned seed) {
  std::vector<float> result = kernel::randomFloats(count, -4, 4, seed);
  for (float &x : result)
    x = float(int(x));
  return result;
}

/// The ops of one function in one kernel; what the function returns is stored.
class Lowered {
public:
  explicit Lowered(llvm::StringRef ir) {
    context.loadDialect<tp::TPDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(ir, &context);
    if (!module)
      return;
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    auto escapes = [](mlir::Value value) {
      return llvm::any_of(value.getUsers(), [](mlir::Operation *user) {
        return user->hasTrait<mlir::OpTrait::IsTerminator>();
      });
    };
    mlir::Block &body = function.getBody().front();
    auto first = llvm::cast<tp::RowLowerableOpInterface>(body.front());
    tp::RowLowering rows(first.getSpace(), escapes);
    for (mlir::Operation &op : body.without_terminator())
      llvm::cast<tp::RowLowerableOpInterface>(op).lowerToRows(rows);
    auto kernel = rows.finish();
    if (!kernel) {
      error = llvm::toString(kernel.takeError());
      return;
    }
    text = kernel->canonical();
    compiled.emplace(std::move(kernel));
  }

  template <typename... T> void operator()(T &...buffers) {
    ASSERT_TRUE(compiled) << error;
    (*compiled)(buffers...);
  }

  std::string error, text;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<kernel::Compiled> compiled;
};

} // namespace

/// Between load and store the chain is float32: 257 needs nine bits.
TEST(RowLowering, ChainInBf16) {
  Lowered lowered(R"(
    func.func @f(%x: tensor<3x19xbf16>, %b: tensor<19xbf16>) -> tensor<3x19xbf16> {
      %a = tp.add %x, %b : (tensor<3x19xbf16>, tensor<19xbf16>) -> tensor<3x19xbf16>
      %r = tp.relu %a : (tensor<3x19xbf16>) -> tensor<3x19xbf16>
      %s = tp.scale %r {factor = 257.0 : f64} : (tensor<3x19xbf16>) -> tensor<3x19xbf16>
      %y = tp.add %s, %s : (tensor<3x19xbf16>, tensor<3x19xbf16>) -> tensor<3x19xbf16>
      return %y : tensor<3x19xbf16>
    })");
  std::vector<float> x = smallFloats(57, 1), b = smallFloats(19, 2);
  Bits bufferX(bf16(x)), bufferB(bf16(b)), y(57, 0);
  lowered(bufferX, bufferB, y);
  for (int i = 0; i < 57; ++i) {
    float wanted = std::max(x[i] + b[i % 19], 0.0f) * 514;
    EXPECT_NEAR(wide(y[i]), wanted, wanted / 256);
  }
  EXPECT_TRUE(y.guardIsWhole());
  EXPECT_NE(lowered.text.find("bf16 write"), std::string::npos) << lowered.text;
}

/// f32 in, bf16 and f32 out of one kernel.
TEST(RowLowering, Cast) {
  Lowered lowered(R"(
    func.func @f(%x: tensor<3x5xf32>) -> (tensor<3x5xbf16>, tensor<3x5xf32>) {
      %n = tp.cast %x : (tensor<3x5xf32>) -> tensor<3x5xbf16>
      %g = tp.scale %n {factor = 2.0 : f64} : (tensor<3x5xbf16>) -> tensor<3x5xbf16>
      %y = tp.cast %g : (tensor<3x5xbf16>) -> tensor<3x5xf32>
      return %n, %y : tensor<3x5xbf16>, tensor<3x5xf32>
    })");
  // The middle of 1 and its successor goes down, that of the next pair up.
  std::vector<float> x = smallFloats(15, 3);
  x[0] = 1 + 0x1p-8f;
  x[1] = 1 + 3 * 0x1p-8f;
  Floats in(x), y(15, 0);
  Bits n(15, 0);
  lowered(in, n, y);
  EXPECT_EQ(wide(n[0]), 1);
  EXPECT_EQ(wide(n[1]), 1 + 4 * 0x1p-8f);
  for (int i = 2; i < 15; ++i) {
    EXPECT_EQ(wide(n[i]), x[i]);
    EXPECT_EQ(y[i], 2 * x[i]);
  }
}

/// What is summed over rows, and what is one a row, is f32.
TEST(RowLowering, SumsAndStatistics) {
  Lowered lowered(R"(
    func.func @f(%x: tensor<200x7xbf16>) -> (tensor<7xf32>, tensor<200xf32>) {
      %s = tp.sum_leading %x : (tensor<200x7xbf16>) -> tensor<7xf32>
      %m = tp.row_max %x : (tensor<200x7xbf16>) -> tensor<200xf32>
      return %s, %m : tensor<7xf32>, tensor<200xf32>
    })");
  std::vector<float> x = smallFloats(1400, 4);
  Bits in(bf16(x));
  Floats sums(7, 0), most(200, 0), scratch(14, 0);
  lowered(in, sums, scratch, most);
  for (int c = 0; c < 7; ++c) {
    float wanted = 0;
    for (int r = 0; r < 200; ++r)
      wanted += x[r * 7 + c];
    EXPECT_EQ(sums[c], wanted);
  }
  for (int r = 0; r < 200; ++r)
    EXPECT_EQ(most[r],
              *std::max_element(x.begin() + r * 7, x.begin() + r * 7 + 7));
}

/// Ids and labels of 64 bits, a table in bf16.
TEST(RowLowering, WideIntegers) {
  Lowered embedding(R"(
    func.func @f(%ids: tensor<5xi64>, %table: tensor<4x6xbf16>) -> tensor<5x6xbf16> {
      %y = tp.embedding %ids, %table : (tensor<5xi64>, tensor<4x6xbf16>) -> tensor<5x6xbf16>
      return %y : tensor<5x6xbf16>
    })");
  std::vector<uint16_t> table = bf16(smallFloats(24, 5));
  Buffer<int64_t> ids(std::vector<int64_t>{3, 0, int64_t(1) << 32, 2, -1});
  Bits rows(table), y(30, 9);
  embedding(ids, rows, y);
  for (int i = 0; i < 30; ++i) {
    bool known = ids[i / 6] >= 0 && ids[i / 6] < 4;
    EXPECT_EQ(y[i], known ? table[ids[i / 6] * 6 + i % 6] : 0);
  }

  Lowered loss(R"(
    func.func @f(%m: tensor<3xf32>, %e: tensor<3xf32>, %p: tensor<3xf32>, %l: tensor<3xi64>) -> (tensor<f32>, tensor<f32>) {
      %s:2 = tp.token_loss %m, %e, %p, %l {ignore = -100 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi64>) -> (tensor<f32>, tensor<f32>)
      return %s#0, %s#1 : tensor<f32>, tensor<f32>
    })");
  Buffer<int64_t> labels(
      std::vector<int64_t>{-100, (int64_t(1) << 32) - 100, 7});
  Floats most(3, 2), exponentials(3, 1), picked(3, 0.5f), sum(1, 0),
      count(1, 0);
  loss(labels, exponentials, most, picked, sum, count);
  EXPECT_EQ(sum[0], 3);
  EXPECT_EQ(count[0], 2);
}

/// Which label counts for nothing the op says, and its gradient too.
TEST(RowLowering, IgnoredLabel) {
  for (llvm::StringRef type : {"i32", "i64"}) {
    auto ir = [&](llvm::StringRef text) {
      std::string result = text.str();
      for (size_t at; (at = result.find("INT")) != std::string::npos;)
        result.replace(at, 3, type.str());
      return result;
    };
    Lowered loss(ir(R"(
      func.func @f(%m: tensor<3xf32>, %e: tensor<3xf32>, %p: tensor<3xf32>, %l: tensor<3xINT>) -> (tensor<f32>, tensor<f32>) {
        %s:2 = tp.token_loss %m, %e, %p, %l {ignore = 7 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xINT>) -> (tensor<f32>, tensor<f32>)
        return %s#0, %s#1 : tensor<f32>, tensor<f32>
      })"));
    Lowered gradient(ir(R"(
      func.func @f(%e: tensor<3xf32>, %l: tensor<3xINT>, %d: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) {
        %s:2 = tp.token_loss_grad %e, %l, %d {ignore = 7 : i64} : (tensor<3xf32>, tensor<3xINT>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
        return %s#0, %s#1 : tensor<3xf32>, tensor<3xf32>
      })"));
    Floats most(3, 2), exponentials(3, 1), picked(3, 0.5f), sum(1, 0),
        count(1, 0), down(1, 4), ofSum(3, 9), ofPicked(3, 9);
    auto check = [&](auto labels) {
      loss(labels, exponentials, most, picked, sum, count);
      EXPECT_EQ(sum[0], 3) << type.str();
      EXPECT_EQ(count[0], 2) << type.str();
      gradient(labels, down, exponentials, ofSum, ofPicked);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(ofSum[i], i == 1 ? 0 : 4) << type.str();
        EXPECT_EQ(ofPicked[i], i == 1 ? 0 : -4) << type.str();
      }
    };
    if (type == "i32")
      check(kernel::Buffer<int32_t>(std::vector<int32_t>{-100, 7, 3}));
    else
      check(kernel::Buffer<int64_t>(std::vector<int64_t>{-100, 7, 3}));
  }
}

/// A sum over a leading dimension of one runs over what it sums.
TEST(RowLowering, SumOfOneRow) {
  Lowered lowered(R"(
    func.func @f(%x: tensor<1x7xf32>) -> tensor<7xf32> {
      %y = tp.sum_leading %x : (tensor<1x7xf32>) -> tensor<7xf32>
      return %y : tensor<7xf32>
    })");
  std::vector<float> x = smallFloats(7, 6);
  Floats in(x), y(7, 9);
  lowered(in, y);
  for (int c = 0; c < 7; ++c)
    EXPECT_EQ(y[c], x[c]);
}
