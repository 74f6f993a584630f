// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A topology as an attribute, with the keys of its file.

#include "colrow/Sharding/TopologyAttr.h"
#include "colrow/dialects/TP/TP.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;

DictionaryAttr sharding::toAttr(const cost::Topology &topology,
                                MLIRContext *context) {
  Builder b(context);
  auto number = [&](StringRef key, double value) {
    return b.getNamedAttr(key, b.getF64FloatAttr(value));
  };
  auto text = [&](StringRef value) {
    return b.getNamedAttr("name", b.getStringAttr(value));
  };
  SmallVector<Attribute> levels;
  for (const cost::Topology::Level &level : topology.levels)
    levels.push_back(b.getDictionaryAttr(
        {text(level.name),
         b.getNamedAttr("ranks", b.getI64IntegerAttr(level.ranks)),
         number("latency_seconds", level.latencySeconds),
         number("bytes_per_second", level.bytesPerSecond)}));
  SmallVector<NamedAttribute> list = {
      text(topology.name),
      number("flops_per_second_f32", topology.flopsPerSecondF32),
      number("memory_bytes_per_second", topology.memoryBytesPerSecond),
      number("memory_bytes", topology.memoryBytes),
      b.getNamedAttr("levels", b.getArrayAttr(levels))};
  if (topology.flopsPerSecondBf16 > 0)
    list.push_back(
        number("flops_per_second_bf16", topology.flopsPerSecondBf16));
  return b.getDictionaryAttr(list);
}

/// The finite number at `key` of `dict`, at least 0 and above it unless
/// `mayBeZero`; otherwise `good` becomes false.
static double number(DictionaryAttr dict, StringRef key, bool &good,
                     bool mayBeZero = false) {
  auto attr = dict.getAs<FloatAttr>(key);
  double value = attr && attr.getType().isF64() ? attr.getValueAsDouble() : -1;
  good &= std::isfinite(value) && (value > 0 || (mayBeZero && value == 0));
  return value;
}

static StringRef name(DictionaryAttr dict, bool &good) {
  auto attr = dict.getAs<StringAttr>("name");
  good &= bool(attr);
  return attr ? attr.getValue() : "";
}

static std::optional<cost::Topology> fromAttr(DictionaryAttr dict) {
  bool good = bool(dict);
  if (!good)
    return std::nullopt;
  cost::Topology topology;
  topology.name = name(dict, good);
  topology.flopsPerSecondF32 = number(dict, "flops_per_second_f32", good);
  if (dict.contains("flops_per_second_bf16"))
    topology.flopsPerSecondBf16 = number(dict, "flops_per_second_bf16", good);
  topology.memoryBytesPerSecond = number(dict, "memory_bytes_per_second", good);
  topology.memoryBytes = number(dict, "memory_bytes", good);
  auto levels = dict.getAs<ArrayAttr>("levels");
  for (Attribute attr : levels ? levels.getValue() : ArrayRef<Attribute>()) {
    auto entry = dyn_cast<DictionaryAttr>(attr);
    auto ranks = entry ? entry.getAs<IntegerAttr>("ranks") : IntegerAttr();
    if (!ranks || !ranks.getType().isInteger(64) || ranks.getInt() < 1 ||
        ranks.getInt() > std::numeric_limits<int32_t>::max())
      return std::nullopt;
    cost::Topology::Level level;
    level.name = name(entry, good);
    level.ranks = ranks.getInt();
    level.latencySeconds = number(entry, "latency_seconds", good, true);
    level.bytesPerSecond = number(entry, "bytes_per_second", good);
    good &=
        topology.levels.empty() || level.ranks > topology.levels.back().ranks;
    topology.levels.push_back(level);
  }
  if (!good || topology.levels.empty())
    return std::nullopt;
  return topology;
}

FailureOr<cost::CostModel> sharding::getCostModel(ModuleOp module) {
  Attribute attr = module->getAttr(tp::getTopologyAttrName());
  if (!attr)
    return cost::CostModel(cost::defaultTopology());
  auto topology = fromAttr(dyn_cast<DictionaryAttr>(attr));
  if (!topology)
    return module.emitError("tp.topology is not what tp-shard writes: wanted "
                            "the keys of a topology file, with numbers as "
                            "there; run tp-shard again");
  return cost::CostModel(*topology);
}
