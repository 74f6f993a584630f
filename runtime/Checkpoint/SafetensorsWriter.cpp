// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing of Safetensors files. The header is padded with spaces so that data
// starts at a multiple of 8, as the format's own library does.

#include "colrow/runtime/Checkpoint/Safetensors.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace colrow::runtime {

Expected<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::create(
    StringRef path, std::vector<Entry> entries,
    ArrayRef<std::pair<StringRef, std::string>> metadata) {
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  return create(std::move(*file), std::move(entries), metadata);
}

Expected<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::create(
    std::unique_ptr<AtomicFile> file, std::vector<Entry> entries,
    ArrayRef<std::pair<StringRef, std::string>> metadata) {
  std::string header;
  raw_string_ostream out(header);
  json::OStream json(out);
  uint64_t offset = 0;
  json.objectBegin();
  json.attributeObject("__metadata__", [&] {
    for (const auto &[key, value] : metadata)
      json.attribute(key, value);
  });
  for (const Entry &entry : entries) {
    uint64_t bytes = bytesOf(entry.type);
    for (int64_t extent : entry.shape)
      bytes *= extent;
    json.attributeObject(json::fixUTF8(entry.name), [&] {
      json.attribute("dtype", nameOf(entry.type));
      json.attributeArray("shape", [&] {
        for (int64_t extent : entry.shape)
          json.value(extent);
      });
      json.attributeArray("data_offsets", [&] {
        json.value(int64_t(offset));
        json.value(int64_t(offset + bytes));
      });
    });
    offset += bytes;
  }
  json.objectEnd();
  header.resize((header.size() + 7) / 8 * 8, ' ');

  std::unique_ptr<SafetensorsWriter> writer(new SafetensorsWriter);
  writer->file = std::move(file);
  writer->left = offset;
  char length[8];
  support::endian::write64le(length, header.size());
  if (Error error = writer->file->write(length, 8))
    return std::move(error);
  if (Error error = writer->file->write(header))
    return std::move(error);
  return writer;
}

Error SafetensorsWriter::append(const void *data, uint64_t bytes) {
  if (bytes > left)
    return failure("{0}: more data than its tensors take", file->name());
  left -= bytes;
  return file->write(data, bytes);
}

Error SafetensorsWriter::commit() {
  if (left != 0)
    return failure("{0}: {1} bytes of its tensors were not given", file->name(),
                   left);
  return file->commit();
}

} // namespace colrow::runtime
