// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frequencies against values worked out from the formulas apart from this code.

#include "Rope.h"
#include "TestFolder.h"
#include <gtest/gtest.h>

using namespace colrow::import;
using llvm::json::Object;

namespace {

Rope readFrom(const Fields &config, int64_t maxPositions = 2048) {
  ConfigReader reader("config.json", config);
  std::string warnings;
  llvm::raw_string_ostream stream(warnings);
  Rope rope = readRope(reader, maxPositions, stream);
  EXPECT_EQ(llvm::toString(reader.takeError()), "");
  EXPECT_EQ(warnings, "");
  return rope;
}

void expectFrequencies(const Rope &rope, std::vector<double> wanted) {
  std::vector<double> found = ropeFrequencies(rope, 2 * wanted.size());
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(found[i], wanted[i], 1e-12 * wanted[i]) << "pair " << i;
}

TEST(Rope, Default) {
  expectFrequencies(readFrom(Fields{}), {1.0, 0.1, 0.01, 0.001});
  expectFrequencies(readFrom({{"rope_theta", 256}}),
                    {1.0, 0.25, 0.0625, 1 / 64.0});
  expectFrequencies(readFrom({{"rope_parameters", Fields{{"rope_theta", 16}}}}),
                    {1.0, 0.25});
}

TEST(Rope, Linear) {
  std::vector<double> wanted = {0.25, 0.025, 0.0025, 0.00025};
  expectFrequencies(
      readFrom({{"rope_theta", 10000.0},
                {"rope_scaling", Fields{{"type", "linear"}, {"factor", 4.0}}}}),
      wanted);
  expectFrequencies(
      readFrom({{"rope_parameters", Fields{{"rope_theta", 10000.0},
                                           {"rope_type", "linear"},
                                           {"factor", 4.0}}}}),
      wanted);
}

Object llama3() {
  return Fields{{"rope_type", "llama3"},
                {"factor", 8.0},
                {"low_freq_factor", 1.0},
                {"high_freq_factor", 4.0},
                {"original_max_position_embeddings", 8192}};
}

// Head size 16, theta 500000: pairs 0-3 are short waves, pair 4 (wavelength
// 4443) lies between 2048 and 8192, the rest are long.
const std::vector<double> llama3Wanted = {1.0,
                                          0.19392274474868576,
                                          0.03760603093086393,
                                          0.007292664737217109,
                                          0.0005248461609929547,
                                          3.428102195952591e-05,
                                          6.647869871181235e-06,
                                          1.2891731721515574e-06};

TEST(Rope, Llama3) {
  expectFrequencies(
      readFrom({{"rope_theta", 500000.0}, {"rope_scaling", llama3()}}),
      llama3Wanted);
  Object newer = llama3();
  newer["rope_theta"] = 500000.0;
  expectFrequencies(readFrom({{"rope_parameters", std::move(newer)}}),
                    llama3Wanted);
}

TEST(Rope, Llama3TakesItsPositionsFromWhereTheyStand) {
  Object inner = llama3();
  inner.erase("original_max_position_embeddings");
  Fields config{{"rope_theta", 500000.0}, {"rope_scaling", Object(inner)}};
  expectFrequencies(readFrom(config, /*maxPositions=*/8192), llama3Wanted);
  inner["original_max_position_embeddings"] = 64;
  expectFrequencies(readFrom({{"rope_theta", 500000.0},
                              {"rope_scaling", std::move(inner)},
                              {"original_max_position_embeddings", 8192}}),
                    llama3Wanted);
}

} // namespace
