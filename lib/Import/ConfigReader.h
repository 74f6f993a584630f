// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed, checked access to a config.json. Invariant: the first error is kept
// and later reads return their smallest legal value, so that a model reads all
// its fields in plain lines and asks once, at the end, whether all went well.

#ifndef COLROW_LIB_IMPORT_CONFIGREADER_H
#define COLROW_LIB_IMPORT_CONFIGREADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>

namespace colrow::import {

/// The largest size of a dimension, and the most layers: beyond them a config
/// is a mistake, and products of three sizes could overflow.
constexpr int64_t maxSize = int64_t(1) << 31;
constexpr int64_t maxLayers = 10000;

class ConfigReader {
public:
  /// Reads fields of `object`; errors start with `where`: a file's name, or a
  /// file's and an enclosing field's. Both outlive the reader.
  ConfigReader(std::string where, const llvm::json::Object &object)
      : where(std::move(where)), object(object) {}

  /// From here on `field` may also be written `alias`.
  void addAlias(llvm::StringRef field, llvm::StringRef alias);

  /// An integer in [1, most]. Without `fallback` the field must be there.
  int64_t size(llvm::StringRef field,
               std::optional<int64_t> fallback = std::nullopt,
               int64_t most = maxSize);
  /// The same, nullopt when absent or null.
  std::optional<int64_t> optionalSize(llvm::StringRef field,
                                      int64_t most = maxSize);
  /// A number > 0 that is finite and > 0 in float32, too.
  double positive(llvm::StringRef field,
                  std::optional<double> fallback = std::nullopt);
  /// A probability in [0, 1).
  double dropout(llvm::StringRef field, double fallback);
  bool flag(llvm::StringRef field, bool fallback);
  std::string text(llvm::StringRef field, llvm::StringRef fallback);
  /// Null when absent or null.
  const llvm::json::Object *objectField(llvm::StringRef field);
  /// The field as it is, null when absent or null. Counts as read.
  const llvm::json::Value *value(llvm::StringRef field);

  /// Keeps the first error: "where: MESSAGE".
  template <typename... Ts> void fail(const char *format, Ts &&...values) {
    keep(llvm::formatv(format, std::forward<Ts>(values)...).str());
  }
  bool failed() const { return !message.empty(); }
  llvm::Error takeError() const;
  /// Takes over the first error of a reader of an enclosed object.
  void absorb(const ConfigReader &inner) {
    if (!failed())
      message = inner.message;
  }
  const std::string &name() const { return where; }

  /// Calls f(field, value) for every field that nothing has read.
  template <typename F> void forEachUnread(F f) const {
    for (const auto &[field, value] : object)
      if (!readFields.contains(llvm::StringRef(field)))
        f(llvm::StringRef(field), value);
  }

private:
  void keep(std::string text);
  void wrong(llvm::StringRef field, const llvm::json::Value *found,
             const llvm::Twine &wanted);

  std::string where;
  const llvm::json::Object &object;
  llvm::StringSet<> readFields;
  llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>, 4> aliases;
  std::string message;
};

/// Whether the value switches nothing on: null, false, 0, empty.
bool isOff(const llvm::json::Value &value);
/// A JSON value for an error: at most 60 characters, on one line.
std::string shortText(const llvm::json::Value &value);

/// `text` with '?' for control characters: names from files stay on one line.
std::string oneLine(llvm::StringRef text);

/// Goes through the fields that no model has read. Fields that change the
/// mathematics are refused by name; those that cannot are passed over; all
/// others are named on `warnings`.
void checkUnreadFields(ConfigReader &config, llvm::raw_ostream &warnings);

} // namespace colrow::import

#endif // COLROW_LIB_IMPORT_CONFIGREADER_H
