// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small model folders for the importer's tests.

#ifndef COLROW_TEST_IMPORT_TESTFOLDER_H
#define COLROW_TEST_IMPORT_TESTFOLDER_H

#include "colrow/Import/Import.h"
#include "colrow/runtime/Checkpoint/Safetensors.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/JSON.h"

namespace colrow::import {

/// A folder that goes with the object.
class TestFolder {
public:
  TestFolder();
  ~TestFolder();
  std::string file(llvm::StringRef name) const;
  void write(llvm::StringRef name, llvm::StringRef text);
  void writeConfig(const llvm::json::Object &config);
  /// model.safetensors with zeros.
  void writeWeights(std::vector<runtime::SafetensorsWriter::Entry> entries);
  llvm::StringRef path() const { return folder; }

private:
  std::string folder;
};

/// Two heads of 4, one layer.
llvm::json::Object gpt2Config();
/// Four heads of 2, two key-value heads, one layer.
llvm::json::Object llamaConfig();

/// An object that braces alone can make.
struct Fields : llvm::json::Object {
  Fields(std::initializer_list<KV> fields) : Object(fields) {}
};

/// `config` with each of `changes` set; a value of "absent" removes the field.
llvm::json::Object with(llvm::json::Object config, const Fields &changes);

/// What an import says.
struct Imported {
  std::string graph; ///< in text form; empty after an error
  std::string error; ///< empty if all went well; the folder's path is "DIR"
  std::string warnings;
};
Imported importFolder(const TestFolder &folder, int64_t batch = 2,
                      int64_t seq = 3);
Imported importConfig(const llvm::json::Object &config, int64_t batch = 2,
                      int64_t seq = 3);

} // namespace colrow::import

#endif // COLROW_TEST_IMPORT_TESTFOLDER_H
