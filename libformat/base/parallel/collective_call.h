// Turns an exception in a collective call into an error on all ranks, because the other ranks wait
// for this rank.
#pragma once

#include <exception>
#include <new>

#include "parallel/communicator.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

inline Status out_of_memory_on(int rank) {
  return Status(Code::kLimit, "out of memory").on_rank(rank);
}

// Runs call(), which returns a Status or Result. Collective. An exception makes the communication
// of all ranks fail. out_of_memory: the error for std::bad_alloc, made in advance because there may
// be no memory to make it later.
template <class Call>
auto collective_call(Communicator& ranks, const Status& out_of_memory, Call call)
    -> decltype(call()) {
  Status thrown;
  try {
    return call();
  } catch (const std::bad_alloc&) {
    thrown = out_of_memory;
  } catch (const std::exception& error) {
    thrown = Status(Code::kUsage, out_of_memory.file(), kNoOffset, "",
                    joined_text("unexpected exception: ", error.what()))
                 .on_rank(ranks.rank());
  }
  ranks.fail(thrown);
  return thrown;
}

}  // namespace nmb
