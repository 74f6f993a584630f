// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads topologies. The file comes from outside: whatever it holds, the result
// is a valid topology or an error with its line.

#include "colrow/Cost/Topology.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/YAMLTraits.h"

#include <cmath>

using namespace colrow::cost;
using llvm::StringRef;

/// A topology takes a few hundred bytes. The limit keeps a wrong file from
/// being read whole, and nested ones from deep recursion in the YAML parser.
static constexpr uint64_t maxFileBytes = 16 * 1024;

namespace {
/// Scalars that check their range where the parser still knows the line.
struct Rate {
  double value = 0;
};
struct Latency {
  double value = 0;
};
struct Count {
  unsigned value = 0;
};
} // namespace

/// Parses a finite number into `value`; returns what is wrong with it.
static StringRef parseFinite(StringRef text, double &value) {
  if (text.getAsDouble(value) || !std::isfinite(value))
    return "wanted a finite number";
  return {};
}

template <> struct llvm::yaml::ScalarTraits<Rate> {
  static StringRef input(StringRef text, void *, Rate &rate) {
    StringRef error = parseFinite(text, rate.value);
    if (error.empty() && !(rate.value > 0))
      return "wanted a number above zero";
    return error;
  }
  static void output(const Rate &rate, void *, raw_ostream &os) {
    os << rate.value;
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct llvm::yaml::ScalarTraits<Latency> {
  static StringRef input(StringRef text, void *, Latency &latency) {
    StringRef error = parseFinite(text, latency.value);
    if (error.empty() && !(latency.value >= 0))
      return "wanted a number that is not negative";
    return error;
  }
  static void output(const Latency &latency, void *, raw_ostream &os) {
    os << latency.value;
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct llvm::yaml::ScalarTraits<Count> {
  static StringRef input(StringRef text, void *, Count &count) {
    if (text.getAsInteger(10, count.value) || count.value == 0)
      return "wanted a whole number above zero";
    return {};
  }
  static void output(const Count &count, void *, raw_ostream &os) {
    os << count.value;
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

/// Maps a required key through a checking scalar.
template <typename Scalar, typename Value>
static void mapChecked(llvm::yaml::IO &io, const char *key, Value &value) {
  Scalar scalar{value};
  io.mapRequired(key, scalar);
  value = scalar.value;
}

LLVM_YAML_IS_SEQUENCE_VECTOR(colrow::cost::Topology::Level)

template <> struct llvm::yaml::MappingTraits<Topology::Level> {
  static void mapping(IO &io, Topology::Level &level) {
    io.mapRequired("name", level.name);
    mapChecked<Count>(io, "ranks", level.ranks);
    mapChecked<Latency>(io, "latency_seconds", level.latencySeconds);
    mapChecked<Rate>(io, "bytes_per_second", level.bytesPerSecond);
  }
};

template <> struct llvm::yaml::MappingTraits<Topology> {
  static void mapping(IO &io, Topology &topology) {
    io.mapRequired("name", topology.name);
    mapChecked<Rate>(io, "flops_per_second_f32", topology.flopsPerSecondF32);
    std::optional<Rate> bf16;
    io.mapOptional("flops_per_second_bf16", bf16);
    topology.flopsPerSecondBf16 = bf16 ? bf16->value : 0;
    mapChecked<Rate>(io, "memory_bytes_per_second",
                     topology.memoryBytesPerSecond);
    mapChecked<Rate>(io, "memory_bytes", topology.memoryBytes);
    io.mapRequired("levels", topology.levels);
  }
};

/// Keeps the first diagnostic of the YAML parser as "file:line: message".
static void keepFirst(const llvm::SMDiagnostic &diagnostic, void *context) {
  auto &first = *static_cast<std::string *>(context);
  if (first.empty())
    first = llvm::formatv("{0}:{1}: {2}", diagnostic.getFilename(),
                          std::max(diagnostic.getLineNo(), 1),
                          diagnostic.getMessage());
}

static llvm::Error fileError(StringRef path, const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 llvm::Twine(path) + ":1: " + message);
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readSmallFile(StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return fileError(path, "cannot read the topology: " + code.message());
  if (!llvm::sys::fs::is_regular_file(status))
    return fileError(path, "cannot read the topology: not a regular file");
  if (status.getSize() > maxFileBytes)
    return fileError(path, llvm::formatv("has {0} bytes, a topology has at "
                                         "most {1}",
                                         status.getSize(), maxFileBytes));
  auto buffer = llvm::MemoryBuffer::getFile(
      path, /*IsText=*/true, /*RequiresNullTerminator=*/true,
      /*IsVolatile=*/true); // read, not mapped
  if (!buffer)
    return fileError(path, "cannot read the topology: " +
                               buffer.getError().message());
  return std::move(*buffer);
}

/// What is wrong with the levels as a whole; empty if nothing is.
static std::string checkLevels(const Topology &topology) {
  if (topology.levels.empty())
    return "wanted at least one network level in 'levels'";
  for (size_t i = 1; i < topology.levels.size(); ++i)
    if (topology.levels[i].ranks <= topology.levels[i - 1].ranks)
      return llvm::formatv(
          "level '{0}' holds {1} ranks, wanted more than the {2} of level "
          "'{3}' inside it",
          topology.levels[i].name, topology.levels[i].ranks,
          topology.levels[i - 1].ranks, topology.levels[i - 1].name);
  return {};
}

llvm::Expected<Topology> colrow::cost::readTopology(StringRef path) {
  auto buffer = readSmallFile(path);
  if (!buffer)
    return buffer.takeError();
  std::string error;
  llvm::yaml::Input input((*buffer)->getMemBufferRef(), nullptr, keepFirst,
                          &error);
  Topology topology;
  input >> topology;
  if (!error.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), error);
  // The parser skips empty documents without an error.
  if (input.error() || topology.memoryBytes == 0)
    return fileError(path, "holds no topology");
  if (input.nextDocument())
    return fileError(path, "holds more than one document");
  error = checkLevels(topology);
  if (!error.empty())
    return fileError(path, error);
  return topology;
}

Topology colrow::cost::defaultTopology() {
  Topology topology;
  topology.name = "default";
  topology.flopsPerSecondF32 = 100e9;
  topology.memoryBytesPerSecond = 20e9;
  topology.memoryBytes = 8e9;
  topology.levels.push_back({"memory", 64, 2e-6, 10e9});
  return topology;
}
