// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds small plans in memory for the runtime's tests.

#ifndef COLROW_TEST_UNIT_RUNTIME_TESTPLAN_H
#define COLROW_TEST_UNIT_RUNTIME_TESTPLAN_H

#include "colrow/runtime/Executor.h"
#include "colrow/runtime/PlanFile.h"
#include "colrow/runtime/Safetensors.h"
#include "gtest/gtest.h"
#include <optional>
#include <string>
#include <vector>

namespace colrow::runtime::test {

using plan::Region;

struct At {
  Region region = Region::scratch;
  uint64_t offset = 0;
  std::vector<int64_t> strides = {};
};

struct FactorSpec {
  int64_t size, padded;
  std::vector<uint8_t> axes = {};
};
using DimSpec = std::vector<FactorSpec>;

struct SourceSpec {
  std::string name;
  std::vector<int64_t> fileShape, reshape, start, step, size;
  std::vector<uint8_t> perm;
};

struct ParameterSpec {
  std::string name;
  uint32_t id = 0;
  std::vector<int64_t> shape;
  std::vector<DimSpec> dims;
  uint64_t offset = 0, bytes = 0;
  std::vector<SourceSpec> sources = {};
  plan::InitKind init = plan::InitKind::normal;
  double mean = 0, std = 0.02;
  int stateOf = -1;
  std::string stateName = "";
};

struct CollectiveSpec {
  plan::CollectiveKind kind;
  plan::Reduction reduction = plan::Reduction::none;
  std::vector<uint8_t> axes = {0};
  int64_t count = 0, outer = 0, block = 0, total = 0;
  At src = {}, dst = {};
  plan::DType dtype = plan::DType::f32;
  uint64_t payload = 0;
};

class TestPlan {
public:
  std::vector<std::pair<std::string, unsigned>> mesh = {{"tp", 1}};
  int64_t batch = 1, seq = 1, vocab = 256;
  uint64_t persistentBytes = 0, scratchBytes = 64;
  std::vector<ParameterSpec> parameters;
  std::vector<uint8_t> constants, kernels;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0, clip = 1;
  At loss, gradNorm;
  std::optional<At> tokenCount;
  std::string config, features;
  uint64_t fingerprint = 7;

  void gemm(int64_t m, int64_t n, int64_t k, At a, At b, At c, float beta = 0,
            bool transA = false, bool transB = false);
  void copy(At src, At dst, uint64_t bytes);
  void fill(At dst, uint64_t bytes, uint8_t value);
  void loop(int64_t trips, uint32_t body);
  void collective(const CollectiveSpec &spec);
  void
  launch(const std::string &symbol, const std::vector<At> &args,
         const std::vector<uint64_t> &bytes,
         const std::vector<std::pair<int64_t, std::vector<int64_t>>> &ints);
  void output(const std::string &name, int parameter,
              const std::vector<int64_t> &shape,
              const std::vector<DimSpec> &dims, At src);
  /// Appends a parameter behind the last one: offset, bytes and the region's
  /// size are set. `ranks`: sizes of the mesh axes must be set before.
  ParameterSpec &add(ParameterSpec parameter);

  /// Every field of every table is written, defaults too, and no two tables
  /// share what says where their fields are. To be called first.
  void writeAllFields();

  /// The finished table; the builder is used up.
  std::vector<uint8_t> table();
  /// The bytes of a plan file.
  std::vector<uint8_t> file();
  /// A validated plan, for tests that expect none to fail.
  LoadedPlan load();

private:
  using Builder = flatbuffers::FlatBufferBuilder;
  flatbuffers::Offset<plan::Operand> operand(const At &at);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<plan::Dim>>>
  dims(const std::vector<DimSpec> &spec);
  flatbuffers::Offset<plan::Parameter> parameter(const ParameterSpec &spec);
  void add(plan::Op kind, flatbuffers::Offset<void> op, const char *name);

  Builder fbb;
  std::vector<flatbuffers::Offset<plan::Instruction>> instructions;
  std::vector<flatbuffers::Offset<plan::Output>> outputs;
};

/// Header and table, as a plan file holds them.
std::vector<uint8_t> planFile(const std::vector<uint8_t> &table);

/// The object of Kernels.c.
std::vector<uint8_t> testKernels();

/// The toy training step of Kernels.c for `ranks` ranks: parameter w [vocab],
/// momentum m as its state, batch 2, seq 3, loss summed over ranks.
TestPlan toyPlan(unsigned ranks, int64_t vocab);

/// An empty folder that is removed at the end.
class TempFolder {
public:
  TempFolder();
  ~TempFolder();
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  std::string path;
};

std::string readFile(const std::string &path);
void writeFile(const std::string &path, llvm::StringRef text);
inline llvm::StringRef textOfBytes(const std::vector<uint8_t> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// All bytes of a tensor.
std::vector<char> dataOf(const SafetensorsFile &file, const TensorInfo &tensor);

/// Text of an error; empty for success.
inline std::string textOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : std::string();
}
template <typename T> std::string textOf(llvm::Expected<T> value) {
  return value ? std::string() : llvm::toString(value.takeError());
}
/// The value, or a test failure that ends the process.
template <typename T> T take(llvm::Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << llvm::toString(value.takeError());
    std::exit(1);
  }
  return std::move(*value);
}

#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

} // namespace colrow::runtime::test

#endif // COLROW_TEST_UNIT_RUNTIME_TESTPLAN_H
