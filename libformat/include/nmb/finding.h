// Finding: a place where the bytes of a file break a rule of its format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nmb/status.h"

namespace nmb {

enum class Severity : std::uint8_t {
  kWarning,
  kUnsupported,  // the bytes are legal, but from a format version that this library does not know
  kFinding,
};

// A piece of values whose sum is wrong, or that cannot be decoded.
struct DamagedPiece {
  std::uint64_t number = 0;            // position among the pieces of its block or file, from 0
  std::uint64_t begin = 0, end = 0;    // the bytes that the sum covers, in the file of the values
  std::vector<std::string> variables;  // names of variables with values in the piece, at most 100
  std::uint64_t more_variables = 0;    // number of such variables that `variables` does not name
  // Returns "piece 3 (bytes 4096 to 5119; variables "x", "y")".
  NMB_EXPORT std::string text() const;
};

struct Finding {
  std::string rule;      // id of the rule in spec/format.md
  std::uint64_t offset;  // offset in the file; kNoOffset if no position applies
  std::string object;    // name of a block, variable or structure; empty if the offset is enough
  std::string found, expected;
  Severity severity = Severity::kFinding;
  // If true, `found` is a text that says what is wrong, and not a value from the file.
  bool is_statement = false;
  std::optional<DamagedPiece> piece{};  // the part of `object` with the defect

  // Returns "at OFFSET: OBJECT, PIECE: found X, expected Y (RULE)", or "at OFFSET: OBJECT:
  // STATEMENT (RULE)".
  NMB_EXPORT std::string text() const;
  // Returns a status with the code kUnsupported or kDamaged, according to the severity.
  NMB_EXPORT Status status(const std::string& file) const;
};

}  // namespace nmb
