// The texts of layout/page/page.html and layout/page/page.js, which the build puts into the tool.
#pragma once

#include <string_view>

namespace nmb::tools {

std::string_view layout_page_html();
std::string_view layout_page_script();

}  // namespace nmb::tools
