// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every field of the plan's schema, given nonsense: the schema itself says
// which fields there are, so a new one that nobody checks fails this test. A
// fault is put into a good plan's table in place; what is behind a field's path
// is the same for all elements of a list.

#include "TestPlan.h"
#include "flatbuffers/reflection_generated.h"
#include "llvm/Support/Regex.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

using flatbuffers::Table;
using reflection::BaseType;

/// What may hold anything, with the reason: regular expressions of paths, with
/// "#" for a list that lost its last element, "?" for a field that is missing,
/// "!" for one that the example below lacks.
struct Anything {
  const char *fields, *reason;
};
constexpr Anything anything[] = {
    {"(compiler_version|target|target_cpu|target_features|model_type|"
     "config_json)\\??",
     "text, and may be missing"},
    {".*instructions\\[\\]\\.(name|reason)\\??", "text, and may be missing"},
    {".*buffers\\[\\]\\.name\\??|programs\\[\\]\\.phases\\[\\]",
     "text, and may be missing"},
    {"persistent_fingerprint", "compared with a checkpoint's"},
    {"(optimizer|programs|programs\\[\\]\\.memory)\\?|programs#",
     "not every plan has it"},
    {"constants\\[\\]|.*\\(Fill\\)\\.value", "any byte"},
    {"object[#?]|object\\[\\]", "checked when it is loaded"},
    {"programs\\[\\]\\.(outputs|instructions)[#?]|parameters#",
     "a smaller program, or model"},
    {"programs\\[\\]\\.ranks\\?", "all ranks"},
    {"programs\\[\\]\\.(inputs|outputs)\\[\\]\\.role\\??", "free text"},
    {".*\\(Launch\\)\\.ints\\[\\]\\.(base|(strides|coords)\\[\\])",
     "integers are the kernel's matter"},
    {"parameters\\[\\]\\.(init|sources)\\?", "zeros; the tensor of its name"},
    {"parameters\\[\\]\\.sources\\[\\]\\.(start|step|perm)\\?",
     "from 0, by 1, in order"},
    {"parameters\\[\\]\\.id", "a key of random numbers"},
    {".*\\.(strides|coords)[#?]", "an address that moves less than it might"},
    {"programs\\[\\]\\.outputs\\[\\]\\.src\\.strides!",
     "outside all loops there is nothing to add"},
};

/// One way to spoil a table: `bytes` at `at`.
struct Fault {
  std::string field; // its path
  std::string what;
  size_t at;
  std::vector<uint8_t> bytes;
};

class Spoiler {
public:
  Spoiler(const reflection::Schema &schema, std::vector<uint8_t> &table)
      : schema(schema), table(table) {}

  std::vector<Fault> run() {
    walk(*schema.root_table(), flatbuffers::GetMutableRoot<Table>(table.data()),
         "");
    return std::move(faults);
  }
  /// Fields of the schema that the example plan lacks.
  std::set<std::string> missing;

private:
  void add(const std::string &field, const char *what, const uint8_t *at,
           const void *bytes, size_t size) {
    auto *begin = static_cast<const uint8_t *>(bytes);
    faults.push_back(
        {field, what, size_t(at - table.data()), {begin, begin + size}});
  }
  template <typename T>
  void addValue(const std::string &field, const char *what, const uint8_t *at,
                T value) {
    add(field, what, at, &value, sizeof(value));
  }

  template <typename T>
  void integer(const std::string &field, const uint8_t *at) {
    addValue(field, "largest", at, std::numeric_limits<T>::max());
    if (std::is_signed_v<T>)
      addValue(field, "smallest", at, std::numeric_limits<T>::min());
  }
  template <typename T> void real(const std::string &field, const uint8_t *at) {
    for (double value : {double(NAN), double(INFINITY), -double(INFINITY)})
      addValue(field, "not finite", at, T(value));
    if (sizeof(T) == 8)
      addValue(field, "huge", at, T(1e300));
  }

  void scalar(BaseType type, const std::string &field, const uint8_t *at) {
    switch (type) {
    case BaseType::Bool: // anything but 0 is true
      return;
    case BaseType::UType:
    case BaseType::UByte:
      return integer<uint8_t>(field, at);
    case BaseType::Byte:
      return integer<int8_t>(field, at);
    case BaseType::UShort:
      return integer<uint16_t>(field, at);
    case BaseType::Short:
      return integer<int16_t>(field, at);
    case BaseType::UInt:
      return integer<uint32_t>(field, at);
    case BaseType::Int:
      return integer<int32_t>(field, at);
    case BaseType::ULong:
      return integer<uint64_t>(field, at);
    case BaseType::Long:
      return integer<int64_t>(field, at);
    case BaseType::Float:
      return real<float>(field, at);
    case BaseType::Double:
      return real<double>(field, at);
    default:
      ADD_FAILURE() << field << " has a type that this test does not know";
    }
  }

  void list(const reflection::Type &type, uint8_t *at,
            const std::string &field) {
    uint32_t size;
    std::memcpy(&size, at, 4);
    if (size == 0) {
      missing.insert(field + "[]");
      return;
    }
    addValue(field + "#", "shorter", at, size - 1);
    seen.insert(field + "[]");
    uint8_t *items = at + 4;
    for (uint32_t i = 0; i < std::min(size, 32u); ++i)
      if (type.element() == BaseType::Obj)
        walk(*schema.objects()->Get(type.index()), follow(items + i * 4),
             field + "[].");
      else if (type.element() == BaseType::String)
        addValue(field + "[]", "empty",
                 reinterpret_cast<uint8_t *>(follow(items + i * 4)),
                 uint64_t(0));
      else
        scalar(type.element(), field + "[]", items + i * widthOf(type));
  }

  static size_t widthOf(const reflection::Type &type) {
    switch (type.element()) {
    case BaseType::UByte:
    case BaseType::Byte:
      return 1;
    case BaseType::UInt:
    case BaseType::Int:
      return 4;
    default:
      return 8;
    }
  }

  static Table *follow(uint8_t *at) {
    uint32_t offset;
    std::memcpy(&offset, at, 4);
    return reinterpret_cast<Table *>(at + offset);
  }

  void walkUnion(const reflection::Field &field, Table *table,
                 const std::string &path) {
    // The field before a union says which of its tables is there.
    auto kind = table->GetField<uint8_t>(field.offset() - 2, 0);
    for (const reflection::EnumVal *value :
         *schema.enums()->Get(field.type()->index())->values())
      if (value->value() == kind)
        walk(*schema.objects()->Get(value->union_type()->index()),
             table->GetPointer<Table *>(field.offset()),
             path + "(" + value->name()->str() + ").");
  }

  void walk(const reflection::Object &object, Table *in,
            const std::string &prefix) {
    for (const reflection::Field *field : *object.fields()) {
      std::string path = prefix + field->name()->str();
      uint8_t *at = in->GetAddressOf(field->offset());
      if (!at) {
        missing.insert(path);
        continue;
      }
      seen.insert(path);
      BaseType type = field->type()->base_type();
      if (type < BaseType::String) {
        scalar(type, path, at);
        continue;
      }
      auto *fields = const_cast<uint8_t *>(in->GetVTable());
      addValue(path + "?", "missing", fields + field->offset(), uint16_t(0));
      auto *target = reinterpret_cast<uint8_t *>(follow(at));
      if (type == BaseType::String)
        addValue(path, "empty", target, uint64_t(0)); // length and first letter
      else if (type == BaseType::Vector)
        list(*field->type(), target, path);
      else if (type == BaseType::Union)
        walkUnion(*field, in, path);
      else
        walk(*schema.objects()->Get(field->type()->index()), follow(at),
             path + ".");
    }
  }

  const reflection::Schema &schema;
  std::vector<uint8_t> &table;
  std::vector<Fault> faults;

public:
  std::set<std::string> seen;
};

CollectiveSpec collective(plan::CollectiveKind kind, plan::Reduction reduction,
                          At src, At dst) {
  CollectiveSpec spec{kind, reduction, {0, 1}};
  spec.count = 4;
  spec.outer = 2, spec.block = 3, spec.total = 7;
  spec.src = src, spec.dst = dst;
  spec.payload = 16;
  return spec;
}

At moving(At at, std::vector<int64_t> strides,
          std::vector<int64_t> coords = {}) {
  at.strides = std::move(strides), at.coords = std::move(coords);
  return at;
}

/// What the builder leaves empty.
void fillNames(plan::PlanT &plan) {
  for (auto *buffers : {&plan.buffers, &plan.programs[0]->buffers})
    for (auto &buffer : *buffers)
      buffer->name = "b";
  plan.programs[0]->ranks = {0, 1, 2, 3};
  for (auto &instruction : plan.programs[0]->instructions)
    if (plan::LaunchT *launch = instruction->op.AsLaunch())
      launch->ints[0]->coords = {1, 1};
}

/// One of each kind.
void addCollectives(TestPlan &plan, const At &a, const At &b, const At &c) {
  using plan::CollectiveKind, plan::Reduction;
  plan.collective(collective(CollectiveKind::all_reduce, Reduction::sum, a, b));
  plan.collective(
      collective(CollectiveKind::all_gather, Reduction::none, a, b));
  plan.collective(
      collective(CollectiveKind::reduce_scatter, Reduction::sum, b, a));
  plan.collective(
      collective(CollectiveKind::all_to_all, Reduction::none, c,
                 plan.buffer(Region::scratch, 96, plan::DType::f32)));
}

/// Loops whose instructions move with them and with the rank.
void addLoops(TestPlan &plan, const At &x, const At &a, const At &b,
              const At &c) {
  plan.loop(2, 6);
  plan.gemm(2, 3, 4, moving(a, {0}, {0, 32}), moving(b, {16}, {0, 0}),
            moving(c, {24}, {0, 24}));
  plan.launch(
      "f", {moving(x, {4}, {0, 0}), moving({Region::scalars, 0}, {8}, {0, 0})},
      {8, sizeof(ScalarBlock) - 8}, {{5, {int64_t(1) << 40}}});
  plan.copy(moving({Region::constant, 0}, {32}, {0, 0}),
            moving(b, {32}, {0, 0}), 32);
  plan.fill(moving(c, {48}), 48, 7);
  plan.loop(2, 1);
  plan.collective(collective(plan::CollectiveKind::all_reduce,
                             plan::Reduction::max, moving(c, {16, 0}, {16, 16}),
                             moving(a, {16, 16}, {8, 8})));
}

/// A plan that has something in every field, and nothing to spare.
plan::PlanT fullPlan() {
  TestPlan plan;
  plan.mesh = {{"dp", 2}, {"tp", 2}};
  plan.object = {1, 2, 3, 4};
  plan.constants = std::vector<uint8_t>(64, 1);
  plan.config = "{}", plan.features = "+avx";
  ParameterSpec w{"w", 3, {2, 3}, {{{2, 2}}, {{3, 4, {1}}}}};
  w.sources = {{"file.w", {12}, {6, 2}, {0, 1}, {2, 1}, {3, 1}, {1, 0}},
               {"file.v", {3}, {3, 1}, {0, 0}, {1, 1}, {3, 1}, {0, 1}}};
  plan.add(w);
  ParameterSpec m{"w.m", 4, {2, 3}, {{{2, 2}}, {{3, 4, {1}}}}};
  m.stateOf = 0, m.stateName = "m";
  plan.add(m);
  InputSpec spec{"x", "ids", {2, 3}, 1, 8, 5};
  spec.dims = {{{2, 2, {0}}}, {{3, 3}}};
  At x = plan.input(spec);
  At a = plan.buffer(Region::scratch, 64, plan::DType::f32);
  At b = plan.buffer(Region::scratch, 64, plan::DType::f32);
  At c = plan.buffer(Region::scratch, 96, plan::DType::f32);
  plan.fill(a, 64, 7);
  plan.fill(b, 64, 7);
  plan.fill(c, 96, 7);
  addCollectives(plan, a, b, c);
  plan.phase = 1;
  plan.record(3);
  addLoops(plan, x, a, b, c);
  plan.stream = 1;
  plan.phase = 2;
  plan.wait(3);
  At scalar = plan.buffer(Region::scratch, 4, plan::DType::f32);
  plan.fill(moving(scalar, {}, {0, 0}), 4, 0);
  plan.output({"loss", "loss", {1}, {{{1, 1}}}, scalar});
  plan.output({"w",
               "gradient",
               {2, 3},
               {{{2, 2}}, {{3, 4, {1}}}},
               moving(a, {}, {16, 32}),
               0});
  plan::PlanT tables = plan.build();
  fillNames(tables);
  return tables;
}

TEST(PlanFields, NonsenseInAnyIsRefused) {
  std::string reflected = readFile(PLAN_REFLECTION);
  const reflection::Schema &schema = *reflection::GetSchema(reflected.data());
  std::vector<uint8_t> table = packed(fullPlan(), /*everyField=*/true);
  ASSERT_EQ(textOf(readPlanBuffer("p", planFile(table))), "");
  Spoiler spoiler(schema, table);
  std::map<std::string, bool> refused; // by field and kind of fault
  for (const Fault &fault : spoiler.run()) {
    std::vector<uint8_t> spoilt = table;
    std::copy(fault.bytes.begin(), fault.bytes.end(),
              spoilt.begin() + fault.at);
    refused[fault.field + " " + fault.what] |=
        !textOf(readPlanBuffer("p", planFile(spoilt))).empty();
  }
  for (const std::string &field : spoiler.missing)
    if (!spoiler.seen.count(field))
      refused[field + "! not in fullPlan()"] = false;
  std::vector<bool> used(std::size(anything), false);
  for (const auto &[what, isRefused] : refused) {
    if (isRefused)
      continue;
    std::string field = what.substr(0, what.find(' '));
    size_t i = 0;
    while (i < used.size() &&
           !Regex(("^(" + Twine(anything[i].fields) + ")$").str()).match(field))
      ++i;
    if (i < used.size())
      used[i] = true;
    else
      ADD_FAILURE() << what << ": accepted; check it, or say in `anything` why "
                    << "it may be so";
  }
  for (size_t i = 0; i < used.size(); ++i)
    EXPECT_TRUE(used[i]) << anything[i].fields << ": all are checked";
}

} // namespace
} // namespace colrow::runtime::test
