// Turns an exception in a collective call into an error on all ranks, because the other ranks wait
// for this rank.
#pragma once

#include <exception>
#include <new>

#include "nmb/error.h"
#include "parallel/communicator.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

inline Status out_of_memory_on(const Communicator& ranks) {
  const Status status(Code::kLimit, "out of memory");
  return ranks.size() > 1 ? status.on_rank(ranks.rank()) : status;
}

// Runs call(), which returns a Status or Result. Collective. An exception makes the communication
// of all ranks fail. out_of_memory: the error for std::bad_alloc, made in advance because there may
// be no memory to make it later (out_of_memory_on()).
template <class Call>
auto collective_call(Communicator& ranks, const Status& out_of_memory, Call call)
    -> decltype(call()) {
  Status thrown;
  try {
    return call();
  } catch (const Error& error) {
    thrown = error.status();
  } catch (const std::bad_alloc&) {
    thrown = out_of_memory;
  } catch (const std::exception& error) {
    thrown = Status(Code::kUsage, out_of_memory.file(), kNoOffset, "",
                    joined_text("unexpected exception: ", error.what()));
  } catch (...) {
    thrown = Status(Code::kUsage, out_of_memory.file(), kNoOffset, "",
                    "unexpected exception of an unknown type");
  }
  if (ranks.size() > 1) thrown = thrown.on_rank(ranks.rank());
  ranks.fail(thrown);
  return thrown;
}

}  // namespace nmb
