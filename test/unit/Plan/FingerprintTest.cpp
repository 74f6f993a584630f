// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fingerprint of a plan's parameters: what a checkpoint must agree in.

#include "Types.h"
#include <functional>
#include <gtest/gtest.h>
#include <map>

using namespace colrow;

namespace {

using Parameters = std::vector<std::unique_ptr<plan::ParameterT>>;

std::unique_ptr<plan::DimT> dimension(std::vector<plan::FactorT> factors) {
  auto dim = std::make_unique<plan::DimT>();
  for (const plan::FactorT &factor : factors)
    dim->factors.push_back(std::make_unique<plan::FactorT>(factor));
  return dim;
}

plan::FactorT factor(int64_t size, int64_t padded, std::vector<uint8_t> axes) {
  plan::FactorT factor;
  factor.size = size;
  factor.padded = padded;
  factor.axes = std::move(axes);
  return factor;
}

/// w of 6 x 6, its rows over axis 0; v of 6, whole.
Parameters makeParameters() {
  Parameters list;
  auto w = std::make_unique<plan::ParameterT>();
  w->name = "w";
  w->dtype = plan::DType::f32;
  w->shape = {6, 6};
  w->dims.push_back(dimension({factor(6, 8, {0})}));
  w->dims.push_back(dimension({}));
  list.push_back(std::move(w));
  auto v = std::make_unique<plan::ParameterT>();
  v->name = "v";
  v->dtype = plan::DType::f32;
  v->shape = {6};
  v->dims.push_back(dimension({}));
  list.push_back(std::move(v));
  return list;
}

} // namespace

TEST(Fingerprint, NamesTypesAndLayoutsCount) {
  using Change = std::function<void(Parameters &)>;
  auto w = [](Parameters &list) -> plan::ParameterT & { return *list[0]; };
  const std::map<std::string, Change> changes = {
      {"nothing", [&](Parameters &) {}},
      {"name", [&](Parameters &list) { w(list).name = "u"; }},
      {"type", [&](Parameters &list) { w(list).dtype = plan::DType::bf16; }},
      {"type of another",
       [&](Parameters &list) { list[1]->dtype = plan::DType::bf16; }},
      {"rows", [&](Parameters &list) { w(list).shape[0] = 7; }},
      {"columns", [&](Parameters &list) { w(list).shape[1] = 7; }},
      {"padding",
       [&](Parameters &list) { w(list).dims[0]->factors[0]->padded = 12; }},
      {"size",
       [&](Parameters &list) { w(list).dims[0]->factors[0]->size = 5; }},
      {"axis",
       [&](Parameters &list) { w(list).dims[0]->factors[0]->axes = {1}; }},
      {"axes",
       [&](Parameters &list) { w(list).dims[0]->factors[0]->axes = {0, 1}; }},
      {"whole", [&](Parameters &list) { w(list).dims[0] = dimension({}); }},
      {"split inside",
       [&](Parameters &list) {
         w(list).dims[0] = dimension({factor(2, 2, {}), factor(3, 4, {0})});
       }},
      {"split the other way",
       [&](Parameters &list) { std::swap(w(list).dims[0], w(list).dims[1]); }},
      {"one less", [&](Parameters &list) { list.pop_back(); }},
      {"another order", [&](Parameters &list) { std::swap(list[0], list[1]); }},
  };
  std::map<uint64_t, std::string> seen;
  for (auto &[name, change] : changes) {
    Parameters list = makeParameters();
    change(list);
    auto [it, isNew] = seen.try_emplace(planir::fingerprint(list), name);
    EXPECT_TRUE(isNew) << it->second << " and " << name;
  }
}

/// Files hold a master in its parameter's place.
TEST(Fingerprint, AParameterIsWhatFilesHoldOfIt) {
  Parameters list = makeParameters();
  uint64_t wide = planir::fingerprint(list);
  auto master = std::make_unique<plan::ParameterT>(*list[0]);
  master->name = "w.master";
  master->state_of = 0;
  master->master = true;
  list[0]->dtype = plan::DType::bf16;
  list.push_back(std::move(master));
  EXPECT_EQ(planir::fingerprint(list), wide);
  list[2]->master = false;
  EXPECT_NE(planir::fingerprint(list), wide);
}
