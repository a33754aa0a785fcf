// Canonical types and values: texts of types and bytes of values that do not depend on how a file
// stores them (spec/digest.md, sections 3 and 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/extension.h"
#include "model/path_move.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Whether the bytes after the first zero byte belong to the value of a null-terminated string of
// fixed length. They do in blocks of netCDF, which stores characters as such strings.
enum class AfterNul : std::uint8_t { kCounts, kIsZero };

// Appends the canonical bytes of values. Thread-safe.
class CanonicalTypes {
 public:
  // `types` must outlive this object; nullptr for a block that has only classic types. move:
  // changes the paths in references.
  explicit CanonicalTypes(const TypeTable* types, AfterNul after_nul = AfterNul::kCounts,
                          PathMove move = {});

  // Returns whether the canonical form of values of the type is known. Errors: kLimit if a value
  // takes more than 256 MiB, or if fields of compounds overlap so much that the canonical form is
  // much longer than the stored form.
  Status check(Type type) const;
  bool has_heap(Type type) const { return types_ && types_->needs_heap(type); }
  std::uint64_t stored_bytes(Type type) const {
    return types_ ? types_->value_size(type) : type_size(type);
  }
  // Returns the number of canonical bytes of a value. `type` must have passed check(), and
  // has_heap() must be false.
  std::uint64_t canonical_bytes(Type type) const;

  // Appends the canonical bytes of a value. region: the bytes to which values of variable length
  // refer. left: see HeapValue::read(). Errors: kDamaged (R-XV-1, R-XV-2); kIo.
  Status append(Type type, const std::byte* value, const ByteSource& region, std::uint64_t* left,
                std::vector<std::byte>* out) const;

  const TypeTable* table() const { return types_; }

 private:
  Status append_string(const std::byte* value, const ByteSource& region, std::uint64_t* left,
                       std::vector<std::byte>* out) const;
  Status append_reference(ReferenceKind kind, const std::byte* value, const ByteSource& region,
                          std::uint64_t* left, std::vector<std::byte>* out) const;

  const TypeTable* types_;
  AfterNul after_nul_;
  PathMove move_;
  // For each of the block's own types: the canonical bytes of a value, not counting the elements of
  // its parts of variable length. Numbers above the limit are kTooLarge.
  std::vector<std::uint64_t> bytes_;
};

// Replaces each NaN among values of `type` in external form by the canonical NaN. Does nothing
// unless the type is kFloat or kDouble.
void make_nans_canonical(Type type, std::span<std::byte> values);

// Makes the texts of a block's types, and keeps each text. Not thread-safe.
class TypeTexts {
 public:
  // `types` must outlive this object; nullptr for a block that has only classic types.
  explicit TypeTexts(const TypeTable* types) : types_(types) {}
  // Errors: kLimit if the text is too long, or if the texts of all types of the block together are
  // too long.
  Result<std::string> of(Type type);

 private:
  const TypeTable* types_;
  std::map<Type, std::string> known_;
  std::size_t total_ = 0;
};

}  // namespace nmb
