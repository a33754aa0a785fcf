// Gets: reads values through the writer, also values that are not committed (spec/rationale.md,
// "Values that are read before a commit").
#pragma once

#include <cstdint>
#include <span>

#include "state/writer_core.h"

namespace nmb {

class Gets {
 public:
  explicit Gets(WriterCore& writer) : w_(writer) {}

  // statuses: receives the status of each get, or is empty. Returns the first failure.
  Status get(std::span<const Get> gets, std::span<Status> statuses);
  // Collective. arguments: the caller's own check of its arguments.
  Status get_all(std::span<const Get> gets, std::span<Status> statuses, const Status& arguments);
  // Collective: see exchange_values().
  Status flush();

 private:
  Status check_statuses(std::size_t gets, std::size_t statuses) const;
  Status get_one(std::string_view operation, const Get& get);
  Status get_each(std::string_view operation, std::span<const Get> gets,
                  std::span<Status> statuses);

  WriterCore& w_;
};

}  // namespace nmb
