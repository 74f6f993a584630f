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

using Entry = SafetensorsWriter::Entry;
using Metadata = ArrayRef<std::pair<StringRef, std::string>>;

Expected<std::unique_ptr<SafetensorsWriter>>
SafetensorsWriter::create(StringRef path, std::vector<Entry> entries,
                          Metadata metadata) {
  auto alone = std::make_unique<Job>();
  Expected<JointFile> file = JointFile::create(*alone, path);
  if (!file)
    return file.takeError();
  auto writer = create(*alone, std::move(*file), std::move(entries), metadata);
  if (writer)
    (*writer)->alone = std::move(alone);
  return writer;
}

/// Length and header; `offsets`: where each entry's data begins behind it.
static std::string headerOf(ArrayRef<Entry> entries, Metadata metadata,
                            std::vector<uint64_t> &offsets) {
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
    offsets.push_back(offset);
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
  offsets.push_back(offset);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  char length[8];
  support::endian::write64le(length, header.size());
  return std::string(length, sizeof(length)) + header;
}

Expected<std::unique_ptr<SafetensorsWriter>>
SafetensorsWriter::create(const Job &job, JointFile file,
                          std::vector<Entry> entries, Metadata metadata) {
  std::unique_ptr<SafetensorsWriter> writer(
      new SafetensorsWriter(std::move(file)));
  std::string header = headerOf(entries, metadata, writer->begins);
  for (uint64_t &begin : writer->begins)
    begin += header.size();
  writer->next = writer->begins.front();
  writer->isShared = job.processes() > 1;
  if (Error error = writer->file.reserve(writer->begins.back()))
    return std::move(error);
  if (job.isFirst())
    if (Error error = writer->file.writeAt(0, header.data(), header.size()))
      return std::move(error);
  return writer;
}

Error SafetensorsWriter::append(const void *data, uint64_t bytes) {
  if (bytes > begins.back() - next)
    return failure("{0}: more data than its tensors take", file.name());
  uint64_t place = next;
  next += bytes;
  return file.writeAt(place, data, bytes);
}

Error SafetensorsWriter::writeAt(size_t entry, uint64_t offset,
                                 const void *data, uint64_t bytes) {
  if (offset > begins[entry + 1] - begins[entry] ||
      bytes > begins[entry + 1] - begins[entry] - offset)
    return failure("{0}: more data than tensor {1} takes", file.name(), entry);
  return file.writeAt(begins[entry] + offset, data, bytes);
}

Error SafetensorsWriter::commit() {
  if (!isShared && next != begins.back())
    return failure("{0}: {1} bytes of its tensors were not given", file.name(),
                   begins.back() - next);
  return file.commit();
}

} // namespace colrow::runtime
