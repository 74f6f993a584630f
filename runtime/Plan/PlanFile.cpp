// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan file's header, checksum and structure. What the tables say is
// checked in CheckPlan.cpp.

#include "colrow/runtime/Plan/PlanFile.h"
#include "colrow/runtime/Plan/CheckPlan.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

static constexpr char magic[] = "COLROWPL";
static constexpr size_t headerSize = 32;
static constexpr uint64_t maxTableSize = uint64_t(2) << 30;

std::array<uint8_t, headerSize> planFileHeader(ArrayRef<uint8_t> table) {
  std::array<uint8_t, headerSize> header = {};
  std::memcpy(header.data(), magic, 8);
  support::endian::write32le(header.data() + 8, planFormatVersion);
  support::endian::write64le(header.data() + 16, table.size());
  support::endian::write64le(header.data() + 24, xxh3_64bits(table));
  return header;
}

Expected<std::unique_ptr<AtomicFile>> startPlanFile(StringRef path,
                                                    ArrayRef<uint8_t> table) {
  if (table.size() >= maxTableSize)
    return failure("{0}: a plan of {1} bytes is larger than the format's 2 GiB",
                   path, table.size());
  std::array<uint8_t, headerSize> header = planFileHeader(table);
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = (*file)->write(header.data(), header.size()))
    return std::move(error);
  if (Error error = (*file)->write(table.data(), table.size()))
    return std::move(error);
  return file;
}

Error writePlanFile(StringRef path, ArrayRef<uint8_t> table) {
  auto file = startPlanFile(path, table);
  return file ? (*file)->commit() : file.takeError();
}

static Error checkHeader(StringRef name, ArrayRef<uint8_t> bytes) {
  if (bytes.size() < 8 || std::memcmp(bytes.data(), magic, 8) != 0)
    return failure("{0}: not a plan file (tp-compile writes them)", name);
  if (bytes.size() < headerSize)
    return failure("{0}: plan file is truncated: {1} bytes", name,
                   bytes.size());
  uint32_t version = support::endian::read32le(bytes.data() + 8);
  if (version != planFormatVersion)
    return failure("{0}: plan has format version {1}, this release reads "
                   "version {2}: compile it again",
                   name, version, planFormatVersion);
  if (support::endian::read32le(bytes.data() + 12) != 0)
    return failure("{0}: plan file is damaged: header", name);
  uint64_t length = support::endian::read64le(bytes.data() + 16);
  uint64_t found = bytes.size() - headerSize;
  if (length != found)
    return failure("{0}: plan file is {1}: header says {2} bytes, found {3}",
                   name, found < length ? "truncated" : "damaged", length,
                   found);
  if (length >= maxTableSize)
    return failure("{0}: plan file is larger than 2 GiB", name);
  return Error::success();
}

Expected<LoadedPlan> readPlanBuffer(StringRef name, ArrayRef<uint8_t> bytes) {
  if (Error error = checkHeader(name, bytes))
    return std::move(error);
  ArrayRef<uint8_t> table = bytes.drop_front(headerSize);
  if (support::endian::read64le(bytes.data() + 24) != xxh3_64bits(table))
    return failure("{0}: plan file is damaged: its checksum does not match",
                   name);
  return loadPlanTable(name, table);
}

Expected<LoadedPlan> loadPlanTable(StringRef name, ArrayRef<uint8_t> table) {
  LoadedPlan result;
  size_t rounded = (table.size() + 127) / 64 * 64;
  result.storage.reset(static_cast<uint8_t *>(std::aligned_alloc(64, rounded)));
  if (!result.storage)
    return failure("{0}: out of memory for {1} bytes", name, rounded);
  std::memcpy(result.storage.get(), table.data(), table.size());
  flatbuffers::Verifier verifier(result.storage.get(), table.size(),
                                 /*max_depth=*/16, /*max_tables=*/100000000);
  if (!plan::VerifyPlanBuffer(verifier))
    return failure("{0}: plan file is damaged: its tables are inconsistent",
                   name);
  result.root = plan::GetPlan(result.storage.get());
  result.sum = xxh3_64bits(table);
  if (auto fault = checkPlanTables(*result.root))
    return failure("{0}: {1}", name, textOfFault(*result.root, *fault));
  return result;
}

Expected<LoadedPlan> readPlanFile(StringRef path) {
  Expected<std::string> text = readTextFile(path, maxTableSize + headerSize);
  if (!text)
    return text.takeError();
  return readPlanBuffer(
      path,
      ArrayRef(reinterpret_cast<const uint8_t *>(text->data()), text->size()));
}

} // namespace colrow::runtime
