// Collects the files that are going to be written (see files/files.h).
#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "files/files.h"
#include "files/visited_files.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

namespace fs = std::filesystem;

// The largest number of steps that resolve one path. A step follows a link or removes a part of the
// path, so a path of up to PATH_MAX bytes needs fewer.
constexpr int kMostSteps = 8192;

// Returns the advice that ends a message to the user. A conflict may be about a hidden file of a
// resumable output. Hidden files are named after their output, so the user must choose another
// output.
std::string advice(std::string_view what) {
  return what == "report" ? "; choose another report" : "; choose another output";
}

}  // namespace

OutputSet::OutputSet() : visited_(std::make_shared<VisitedFiles>()) {}

OutputSet::Identity OutputSet::identity_of(const std::string& path) {
  fs::path at = path, rest;
  for (int step = 0; step < kMostSteps; ++step) {
    struct stat info;
    if (::stat(at.empty() ? "." : at.c_str(), &info) == 0) {
      // Shorten the text of the rest of the path: remove each ".." together with the folder before
      // it. These folders do not exist, so the file system is not asked.
      fs::path shortest = rest.lexically_normal();
      if (shortest == rest) return {info.st_dev, info.st_ino, rest.string()};
      at /= shortest;
      rest.clear();
      continue;
    }
    // If a link refers to a file that does not exist, use the path of that file.
    std::error_code is_no_link;
    const fs::path target = fs::read_symlink(at, is_no_link);
    if (!is_no_link) {
      at = at.parent_path() / target;
    } else if (at.has_relative_path()) {
      rest = rest.empty() ? at.filename() : at.filename() / rest;
      at = at.parent_path();
    } else {
      break;
    }
  }
  return {0, 0, path};
}

const OutputSet::Output* OutputSet::find(const std::string& path) const {
  const auto found = outputs_.find(identity_of(path));
  return found == outputs_.end() ? nullptr : &found->second;
}

Status OutputSet::add(const std::string& path, std::string_view what) {
  Identity identity = identity_of(path);
  const bool exists = std::get<std::string>(identity).empty();
  const auto [place, is_new] =
      outputs_.try_emplace(std::move(identity), Output{path, std::string(what)});
  if (!is_new)
    return Status(Code::kUsage, path, kNoOffset, "",
                  "is also the " + place->second.what + " " + place->second.path + advice(what));
  replaces_ = replaces_ || exists;
  visited_ = std::make_shared<VisitedFiles>();
  return {};
}

Status OutputSet::add_output(const std::string& path, bool resumable) {
  NMB_TRY(add(path, "output"));
  if (!resumable) return {};
  NMB_TRY(add(resumable_name(path), "unfinished output"));
  return add(journal_name(path), "journal");
}

Status OutputSet::check_input(const std::string& path, std::string_view what) const {
  if (!replaces_) return {};
  const Output* output = find(path);
  if (output == nullptr) return {};
  return Status(Code::kUsage, output->path, kNoOffset, "",
                joined_text("is also the ", what, " ", path, advice(output->what)));
}

Status OutputSet::check_reference(const std::string& path, const std::string& by) const {
  const Output* output = find(path);
  if (output == nullptr) return {};
  return Status(
      Code::kUsage, output->path, kNoOffset, "",
      "is also a file to which the input " + by + " refers: " + path + advice(output->what));
}

Status OutputSet::refuse_unknown(const std::string& input, const std::string& why) const {
  for (const auto& [identity, output] : outputs_)
    if (std::get<std::string>(identity).empty())
      return Status(Code::kUsage, output.path, kNoOffset, "",
                    "cannot find out whether the input " + input + " refers to this file: " + why +
                        advice(output.what) + " that does not exist yet");
  return {};
}

}  // namespace nmb
