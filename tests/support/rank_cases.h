// Cases that run on ranks of any kind, threads or processes of an MPI job: files
// tests/parallel/*_cases.cpp hold them, the program parallel_ranks runs them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

// Runs on every rank with a communicator of its own. A rank that does not return ok fails the
// network, and the case.
struct RankCase {
  std::string_view name;
  Status (*run)(Communicator& ranks);
  // Bytes of the longest message of the transport; 0: as many as it takes.
  std::size_t max_message = 0;
};

// In order of names.
const std::vector<RankCase>& rank_cases();

struct RegisteredRankCase {
  explicit RegisteredRankCase(const RankCase& rank_case);
};

// Ok if it holds, else what was to hold.
Status expect(bool holds, std::string_view what);

// RANK_CASE(Name) { ... return {}; }: the ranks are `ranks`.
#define RANK_CASE(name) NARROW_RANK_CASE(name, 0)
// The same where the transport passes messages of at most max_message bytes, trailers included.
#define NARROW_RANK_CASE(name, max_message)                                             \
  static ::nmb::Status name(::nmb::Communicator& ranks);                                \
  static const ::nmb::RegisteredRankCase registered_##name({#name, name, max_message}); \
  static ::nmb::Status name(::nmb::Communicator& ranks)

}  // namespace nmb
