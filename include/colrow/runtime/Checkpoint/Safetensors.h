// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors files: u64 length of the header, a JSON header, tensor data.
// The reader trusts nothing: lengths, shapes and offsets are checked, and data
// must be covered exactly once, as the format demands.

#ifndef COLROW_RUNTIME_CHECKPOINT_SAFETENSORS_H
#define COLROW_RUNTIME_CHECKPOINT_SAFETENSORS_H

#include "colrow/runtime/Job/JointFile.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace colrow::runtime {

enum class TensorType : uint8_t {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  f8
};

/// Bytes of an element.
unsigned bytesOf(TensorType type);
/// The format's name: "F32", "BF16".
llvm::StringRef nameOf(TensorType type);

struct TensorInfo {
  std::string name;
  TensorType type;
  llvm::SmallVector<int64_t, 4> shape;
  uint64_t begin, end; // bytes of the file

  int64_t elements() const { return int64_t((end - begin) / bytesOf(type)); }
};

class SafetensorsFile {
public:
  /// Reads and checks the header only.
  static llvm::Expected<std::unique_ptr<SafetensorsFile>>
  open(llvm::StringRef path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile &) = delete;
  SafetensorsFile &operator=(const SafetensorsFile &) = delete;

  llvm::StringRef path() const { return file; }
  /// In the order of the data.
  llvm::ArrayRef<TensorInfo> tensors() const { return list; }
  /// Null when there is no such tensor.
  const TensorInfo *find(llvm::StringRef name) const;
  /// Entries of "__metadata__".
  const llvm::StringMap<std::string> &metadata() const { return notes; }

  /// Reads bytes [first, first + bytes) of the tensor's data. Error: what the
  /// header promised is not there any more. Safe from many threads.
  llvm::Error read(const TensorInfo &tensor, uint64_t first, uint64_t bytes,
                   char *out) const;

private:
  SafetensorsFile(std::string path, int fd, uint64_t size);
  llvm::Error readHeader();
  llvm::Error addTensor(llvm::StringRef name, const void *object,
                        uint64_t dataBegin);
  llvm::Error checkCoverage(uint64_t dataBegin);

  std::string file;
  int fd;
  uint64_t size;
  std::vector<TensorInfo> list;
  llvm::StringMap<unsigned> index;
  llvm::StringMap<std::string> notes;
};

/// Reads elements first, first + stride, ... of a tensor's data as float32 into
/// out[0 .. count). Types f32, bf16 and f16 only, see isReadableAsFloat.
void readFloats(TensorType type, const char *data, int64_t first,
                int64_t stride, int64_t count, float *out);
bool isReadableAsFloat(TensorType type);

/// Writes a file without holding its tensors: their list is given first, so
/// that all places are known, then the data. All processes of a job may write
/// one file, each its own parts; then all give the same list.
class SafetensorsWriter {
public:
  struct Entry {
    std::string name;
    TensorType type;
    llvm::SmallVector<int64_t, 4> shape;
  };

  /// `metadata`: pairs for "__metadata__".
  static llvm::Expected<std::unique_ptr<SafetensorsWriter>>
  create(llvm::StringRef path, std::vector<Entry> entries,
         llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> metadata);
  static llvm::Expected<std::unique_ptr<SafetensorsWriter>>
  create(const Job &job, JointFile file, std::vector<Entry> entries,
         llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> metadata);

  /// Appends data; all of the entries' bytes in order.
  llvm::Error append(const void *data, uint64_t bytes);
  /// Writes bytes [offset, offset + bytes) of an entry's data. Not both.
  llvm::Error writeAt(size_t entry, uint64_t offset, const void *data,
                      uint64_t bytes);
  /// Syncs and renames. Error: a file of one process lacks data.
  llvm::Error commit();

private:
  SafetensorsWriter(JointFile file) : file(std::move(file)) {}
  JointFile file;
  std::vector<uint64_t> begins; // of the entries in the file, and the end
  bool isShared = false;        // with other processes, which use writeAt()
  uint64_t next = 0;            // place of the next append()
  std::unique_ptr<Job> alone;   // of the file, if it has none of its own
};

/// "[2, 3]".
std::string textOfShape(llvm::ArrayRef<int64_t> shape);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_SAFETENSORS_H
