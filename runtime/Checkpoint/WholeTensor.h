// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of a file and the blocks on the ranks that make them up.

#ifndef COLROW_RUNTIME_CHECKPOINT_WHOLETENSOR_H
#define COLROW_RUNTIME_CHECKPOINT_WHOLETENSOR_H

#include "colrow/runtime/Checkpoint/Checkpoint.h"
#include "colrow/runtime/Plan/BlockMap.h"
#include "colrow/runtime/Plan/SourceMap.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <string>

namespace colrow::runtime {

/// A tensor that ranks store in blocks.
struct StoredTensor {
  llvm::ArrayRef<int64_t> shape;
  const DimList *dims; // null: whole on every rank
  plan::DType type;
  std::function<const char *(unsigned rank)> data;
  llvm::ArrayRef<uint32_t> ranks = {}; // that have it, rising; empty: all
};

/// Elements [first, first + map.elements()) of `stored`, read row-major, stand
/// in the file's tensor where `map` says.
struct Piece {
  StoredTensor stored;
  SourceMap map;
  int64_t first;
};

/// A tensor of a file: every element comes from exactly one piece.
struct WholeTensor {
  std::string name;
  llvm::SmallVector<int64_t, 4> shape;
  plan::DType type;
  std::vector<Piece> pieces;

  int64_t elements() const;
};

/// How a parameter, or state of one, is called in files and where it stands:
/// without sources under the symbol's name, as it is.
struct NamedSource {
  std::string tensor;
  llvm::SmallVector<int64_t, 4> shape;
  SourceMap map;
};
std::vector<NamedSource> sourcesOf(const plan::Plan &plan,
                                   const plan::Parameter &parameter);

bool hasSources(const plan::Parameter &parameter);

/// The parameter whose value a master is; others are their own.
const plan::Parameter &valueOf(const plan::Plan &plan,
                               const plan::Parameter &parameter);
/// The master of each parameter that has one: files hold it in its place.
using Masters =
    llvm::DenseMap<const plan::Parameter *, const plan::Parameter *>;
Masters mastersOf(const plan::Plan &plan);

/// Adds the pieces of `stored`, whose sources are `sources`, to `tensors`.
llvm::Error addPieces(std::vector<WholeTensor> &tensors,
                      llvm::StringMap<unsigned> &index,
                      const StoredTensor &stored,
                      llvm::ArrayRef<NamedSource> sources);

/// Checks that the pieces' numbers of elements add up to the tensor's.
llvm::Error checkComplete(const WholeTensor &tensor);

/// What some ranks hold of a tensor.
struct Assembled {
  std::vector<char> values;  // of the whole tensor, in its type
  std::vector<uint8_t> held; // one an element: 1 where there is a value
  int64_t count = 0;         // of these
};

/// Puts the blocks of `ranks` together, padding dropped; of ranks that hold the
/// same the first of the mesh counts. Error: an element that comes from two
/// pieces.
llvm::Error assemble(const WholeTensor &tensor, const Mesh &mesh,
                     RankRange ranks, Assembled &out);

/// Which file a parameter or state is saved in.
Holding holdingOf(const plan::Parameter &parameter);

/// The tensors of one of a checkpoint's files.
llvm::Expected<std::vector<WholeTensor>> tensorsOf(Executor &executor,
                                                   Holding holding);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_WHOLETENSOR_H
