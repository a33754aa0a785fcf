// Letters: messages to several ranks. The messages can be filled in any order.
#pragma once

#include <map>
#include <vector>

#include "nmb/communicator.h"
#include "parallel/message_fields.h"

namespace nmb {

class Letters {
 public:
  FieldsOut& to(int rank) { return letters_[rank]; }
  // Returns the messages for exchange() and removes them.
  std::vector<Communicator::Parcel> take() {
    std::vector<Communicator::Parcel> parcels;
    for (auto& [rank, letter] : letters_) parcels.push_back({rank, letter.take()});
    letters_.clear();
    return parcels;
  }

 private:
  std::map<int, FieldsOut> letters_;
};

}  // namespace nmb
