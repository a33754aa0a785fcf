// Options of public calls in the form that the library's own calls take.
#pragma once

#include <optional>
#include <string_view>

#include "files/output_options.h"
#include "handles/handle_parts.h"
#include "model/values.h"
#include "nmb/options.h"
#include "parallel/collective_call.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

// Sets the options of writing that all calls have in common.
template <class Options>
void set_output(const Options& options, OutputOptions* out) {
  out->overwrite = options.replace;
  out->sync = options.sync;
  out->threads = options.threads;
  out->progress = options.progress;
  out->cancel = options.cancel;
}
// Returns nullopt if nothing is asked for. Errors: kUsage.
Result<std::optional<Compression>> compression_of(const Storing& storing);
// Returns the kind of a classic file. Errors: kUsage for another kind.
Result<Kind> classic_kind(FileKind kind);

// Runs call(communicator), which returns a Status or Result, with the communicator of `ranks`;
// nullptr means a single rank. An exception, also of a callback, becomes the failure of all ranks.
template <class Call>
auto with_ranks(Ranks* ranks, Call call) -> decltype(call(std::declval<Communicator&>())) {
  return without_exceptions([&] {
    Communicator alone;
    Communicator& all = ranks ? communicator(*ranks) : alone;
    return collective_call(all, out_of_memory_on(all), [&] { return call(all); });
  });
}

}  // namespace nmb
