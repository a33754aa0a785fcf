// nmconvert: options and the calls into the library.
#pragma once

#include <optional>
#include <string>

#include "common/tool.h"
#include "nmb/extract.h"

namespace nmb::tools {

class ConvertCommand {
 public:
  explicit ConvertCommand(Tool& tool);
  Status execute();

 private:
  Status to_nmb(Communicator& ranks, unsigned threads);
  Status from_nmb(std::optional<Kind> kind, Communicator& ranks, unsigned threads);
  Status from_classic(std::optional<Kind> kind, Communicator& ranks, unsigned threads);
  ExtractOptions extract_options(std::optional<Kind> kind, unsigned threads) const;

  Tool& tool_;
  std::string input_, output_, to_;
  std::optional<std::string> block_;
  bool force_ = false, no_sync_ = false, no_check_ = false;
};

}  // namespace nmb::tools
