#include "recover/recover.h"

#include <memory>

#include "calls/call_options.h"
#include "handles/input_file.h"

namespace nmb {

Result<Recovery> try_recover(const std::string& path, const std::string& output,
                             const RecoverOptions& options) {
  return with_ranks(nullptr, [&](Communicator&) -> Result<Recovery> {
    NMB_ASSIGN(const std::shared_ptr<const InputFile> file, InputFile::open(path));
    if (!output.empty()) {
      OutputSet outputs;
      NMB_TRY(outputs.add(output, "output"));
      NMB_TRY(outputs.check_input(path, "input"));
    }
    RecoveryOptions all;
    all.output = output;
    all.partial = options.partial;
    all.unverified = options.unverified;
    all.external = options.external;
    set_output(options, &all.writer);
    all.on_search = options.progress;
    return recover(file, all);
  });
}

}  // namespace nmb
