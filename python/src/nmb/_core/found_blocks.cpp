#include "found_blocks.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "errors.h"
#include "text.h"

namespace nmb_python {

void on_threads(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i)
      others.emplace_back(run);
  } catch (const std::system_error&) {
    // The threads that have started do all the work.
  }
  run();
}

std::size_t FoundBlocks::add(nb::handle block) {
  if (PyUnicode_Check(block.ptr())) {
    std::string name = from_text(block);
    const auto* const last = wanted_.empty() ? nullptr : std::get_if<std::string>(&wanted_.back());
    if (!last || *last != name) wanted_.emplace_back(std::move(name));
  } else if (nb::isinstance<BlockHandle>(block)) {
    wanted_.emplace_back(nb::cast<const BlockHandle&>(block).view);
  } else {
    wanted_.emplace_back(nb::cast<std::uint64_t>(block));
  }
  return wanted_.size() - 1;
}

void FoundBlocks::load(unsigned threads, const Then& then) {
  std::vector<nmb::BlockView> views(wanted_.size());
  std::vector<char> is_found(wanted_.size());
  std::vector<nmb::Status> statuses(wanted_.size());
  {
    constexpr std::size_t kFewBlocks = 8;  // for which no threads are started
    nb::gil_scoped_release unlocked;
    on_threads(wanted_.size() > kFewBlocks ? threads : 1, wanted_.size(), [&](std::size_t i) {
      statuses[i] = nmb::caught([&]() -> nmb::Status {
        if (auto* const view = std::get_if<nmb::BlockView>(&wanted_[i])) {
          views[i] = *view;
        } else {
          const auto* const name = std::get_if<std::string>(&wanted_[i]);
          nmb::Result<nmb::BlockView> found =
              name ? file_->reader.try_block(*name)
                   : file_->reader.try_block_at(std::get<std::uint64_t>(wanted_[i]));
          if (!found.ok()) return found.status();
          views[i] = *std::move(found);
        }
        is_found[i] = true;
        return then(i, views[i]);
      });
    });
  }
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const auto* const name = std::get_if<std::string>(&wanted_[i]);
    need(statuses[i], is_found[i] ? views[i].name() : name ? *name : "");
  }
  found_.reserve(views.size());
  for (nmb::BlockView& view : views) found_.push_back({file_, std::move(view)});
}

}  // namespace nmb_python
