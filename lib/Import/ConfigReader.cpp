// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading fields of a config.json with their types and ranges.

#include "ConfigReader.h"
#include "colrow/runtime/Support/Errors.h"
#include <cmath>

using namespace llvm;

namespace colrow::import {

std::string shortText(const json::Value &value) {
  std::string text = formatv("{0}", value).str();
  constexpr size_t most = 60;
  if (text.size() > most)
    text = json::fixUTF8(text.substr(0, most - 3)) + "...";
  return text;
}

bool isOff(const json::Value &value) {
  if (value.getAsNull())
    return true;
  if (std::optional<bool> flag = value.getAsBoolean())
    return !*flag;
  if (std::optional<double> number = value.getAsNumber())
    return *number == 0.0;
  if (std::optional<StringRef> text = value.getAsString())
    return text->empty();
  if (const json::Array *array = value.getAsArray())
    return array->empty();
  return value.getAsObject()->empty();
}

std::string oneLine(StringRef text) {
  std::string result = text.str();
  for (char &c : result)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      c = '?';
  return result;
}

void ConfigReader::keep(std::string text) {
  if (message.empty())
    message = oneLine(where + ": " + text);
}

void ConfigReader::wrong(StringRef field, const json::Value *found,
                         const Twine &wanted) {
  if (found)
    fail("field '{0}' is {1}; wanted {2}", field, shortText(*found),
         wanted.str());
  else
    fail("field '{0}' is missing; wanted {1}", field, wanted.str());
}

Error ConfigReader::takeError() const {
  if (message.empty())
    return Error::success();
  return runtime::failure("{0}", message);
}

void ConfigReader::addAlias(StringRef field, StringRef alias) {
  aliases.push_back({field, alias});
}

const json::Value *ConfigReader::value(StringRef field) {
  readFields.insert(field);
  const json::Value *found = object.get(field);
  for (const auto &[name, alias] : aliases) {
    if (name != field)
      continue;
    readFields.insert(alias);
    const json::Value *other = object.get(alias);
    if (found && other && *found != *other)
      fail("fields '{0}' ({1}) and '{2}' ({3}) mean the same and differ; keep "
           "one",
           field, shortText(*found), alias, shortText(*other));
    if (!found)
      found = other;
  }
  return found && found->getAsNull() ? nullptr : found;
}

std::optional<int64_t> ConfigReader::optionalSize(StringRef field,
                                                  int64_t most) {
  const json::Value *found = value(field);
  if (!found)
    return std::nullopt;
  std::optional<int64_t> number = found->getAsInteger();
  if (number && *number >= 1 && *number <= most)
    return number;
  wrong(field, found, formatv("an integer from 1 to {0}", most).str());
  return 1;
}

int64_t ConfigReader::size(StringRef field, std::optional<int64_t> fallback,
                           int64_t most) {
  if (std::optional<int64_t> found = optionalSize(field, most))
    return *found;
  if (!fallback)
    wrong(field, nullptr, formatv("an integer from 1 to {0}", most).str());
  return fallback.value_or(1);
}

double ConfigReader::positive(StringRef field, std::optional<double> fallback) {
  const json::Value *found = value(field);
  if (!found && fallback)
    return *fallback;
  std::optional<double> number = found ? found->getAsNumber() : std::nullopt;
  // Kernels compute in float32.
  if (number && std::isfinite(float(*number)) && float(*number) > 0)
    return *number;
  wrong(field, found, "a number greater than 0, in float32 too");
  return 1.0;
}

double ConfigReader::dropout(StringRef field, double fallback) {
  const json::Value *found = value(field);
  if (!found)
    return fallback;
  std::optional<double> number = found->getAsNumber();
  if (number && *number >= 0 && *number < 1)
    return *number;
  wrong(field, found, "a probability, at least 0 and less than 1");
  return 0.0;
}

bool ConfigReader::flag(StringRef field, bool fallback) {
  const json::Value *found = value(field);
  if (!found)
    return fallback;
  if (std::optional<bool> flag = found->getAsBoolean())
    return *flag;
  wrong(field, found, "true or false");
  return fallback;
}

std::string ConfigReader::text(StringRef field, StringRef fallback) {
  const json::Value *found = value(field);
  if (!found)
    return fallback.str();
  if (std::optional<StringRef> text = found->getAsString())
    return text->str();
  wrong(field, found, "a string");
  return fallback.str();
}

const json::Object *ConfigReader::objectField(StringRef field) {
  const json::Value *found = value(field);
  if (!found)
    return nullptr;
  if (const json::Object *inner = found->getAsObject())
    return inner;
  wrong(field, found, "an object or null");
  return nullptr;
}

} // namespace colrow::import
