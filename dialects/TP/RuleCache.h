// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factor rules bound so far. Layers of a model are alike, and every pass and
// verifier asks for the same few rules.

#ifndef COLROW_DIALECTS_TP_RULECACHE_H
#define COLROW_DIALECTS_TP_RULECACHE_H

#include "colrow/dialects/TP/TP.h"
#include <mutex>

namespace colrow::tp {

/// Safe to use from several threads; rules stay where they are.
class RuleCache {
public:
  /// The rule of `op`, bound when it is asked for first.
  llvm::Expected<const layout::FactorRule &> get(ShardableOpInterface op);
  /// `check()`, unless it has succeeded for an op like `op` with the same ways:
  /// it must depend on nothing else.
  llvm::LogicalResult
  checkOnce(mlir::Operation *op, mlir::Attribute ways,
            llvm::function_ref<llvm::LogicalResult()> check);

private:
  using Key = std::vector<const void *>;
  static Key keyOf(mlir::Operation *op);

  std::mutex mutex;
  std::map<Key, layout::FactorRule> rules;
  std::set<Key> checked;
};

} // namespace colrow::tp

#endif // COLROW_DIALECTS_TP_RULECACHE_H
