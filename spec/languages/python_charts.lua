--- Programs in Python with tables, pictures and charts. See spec/support/programs.lua for the form.

local programs = require "spec.support.programs"
local any, like = programs.any, programs.like

local PICTURE = function(bytes) return bytes:sub(1, 8) == "\137PNG\r\n\26\n" end
local FIGURE = like "<Figure size %d+x%d+ with %d+ Axes>"

local function figure(chart) return { shown = { text = FIGURE, png = PICTURE, chart = chart } } end

local function available(box, module)
  local code = ("from importlib.util import find_spec\nfind_spec(%q) is not None"):format(module)
  local execution = assert(box:step(code))
  return execution.text == "True", module .. " is not installed"
end

return {
  language = "python",
  available = available,
  { "shows a line with its chart", needs = "matplotlib",
    { [[
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [4, 5, 6], label="a")
plt.plot([1, 3], [6, 4])
plt.title("T"); plt.xlabel("time (s)"); plt.xticks([1, 2, 3]); plt.yticks([4, 6])
plt.show()]],
      figure {
        type = "line", title = "T",
        elements = {
          { label = "a", points = { { 1, 4 }, { 2, 5 }, { 3, 6 } } },
          { label = "Line 1", points = { { 1, 6 }, { 3, 4 } } },
        },
        x_label = "time (s)", x_unit = "s", y_label = any, y_unit = any,
        x_ticks = { 1, 2, 3 }, x_tick_labels = { "1", "2", "3" }, x_scale = "linear",
        y_ticks = { 4, 6 }, y_tick_labels = { "4", "6" }, y_scale = "linear",
      } },
  },
  { "shows points over dates and on a logarithmic scale", needs = "matplotlib",
    { [[
import matplotlib.pyplot as plt, datetime
plt.scatter([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], [1, 100], label="s")
plt.yscale("log"); plt.ylabel("n [kg]")]],
      { result = { text = like "Text%(.*%)" } },
      figure {
        type = "scatter", title = any,
        elements = {
          { label = "s", points = { { "2020-01-01T00:00:00", 1 }, { "2020-01-02T00:00:00", 100 } } },
        },
        x_label = any, x_unit = any, y_label = "n [kg]", y_unit = "kg",
        x_ticks = any, x_tick_labels = any, x_scale = "datetime",
        y_ticks = any, y_tick_labels = any, y_scale = "log",
      } },
  },
  { "shows bars side by side", needs = "matplotlib",
    { [[
import matplotlib.pyplot as plt
plt.bar(["p", "q"], [1, 2], label="u"); plt.bar(["p", "q"], [3, 4], bottom=[1, 2])
plt.ylabel("value"); plt.show()]],
      figure {
        type = "bar", title = any,
        elements = {
          { label = "p", group = "u", value = 1 }, { label = "q", group = "u", value = 2 },
          { label = "p", group = "Group 1", value = 3 }, { label = "q", group = "Group 1", value = 4 },
        },
        x_label = any, x_unit = any, y_label = "value", y_unit = any,
      } },
  },
  { "shows pies and boxes as several charts", needs = "matplotlib",
    { [=[
import matplotlib.pyplot as plt
fig, (left, right) = plt.subplots(1, 2)
left.pie([90, 10], labels=["a", "b"])
boxes = right.boxplot([[1, 2, 3, 4, 20]])
right.set_xticks([1], ["B"])
fig.suptitle("Both")
fig.number]=],
      { result = { text = "1" } },
      figure {
        type = "superchart", title = "Both",
        elements = {
          { type = "pie", title = any, elements = {
            { label = "a", angle = 324, radius = 1 }, { label = "b", angle = 36, radius = 1 } } },
          { type = "box_and_whisker", title = any,
            elements = { { label = "B", min = 1, first_quartile = 2, median = 3, third_quartile = 4, max = 4,
              outliers = { 20 } } },
            x_label = any, x_unit = any, y_label = any, y_unit = any },
        },
      } },
  },
  { "shows what is no known chart as one of an unknown type", needs = "matplotlib",
    { "import matplotlib.pyplot as plt\nplt.imshow([[1, 2], [3, 4]]); plt.title('I'); plt.show()",
      figure { type = "unknown", title = "I", elements = {} } },
  },
  { "shows tables with their data", needs = "pandas",
    { "import pandas as pd\npd.DataFrame({'n': [1, 2], 't': pd.to_datetime(['2020-01-01', '2020-01-02'])})",
      { result = { text = like ".*2020%-01%-01.*", html = like ".*<table.*</table>.*",
        data = { n = { 1, 2 }, t = { "2020-01-01T00:00:00", "2020-01-02T00:00:00" } } } } },
    { "display(pd.DataFrame({'a': [0.5]}))\npd.Series(['x'])",
      { shown = { text = "     a\n0  0.5", html = any, data = { a = { 0.5 } } } },
      { result = { text = "0    x\ndtype: object" } } },
  },
  { "shows pictures as PNG and JPEG", needs = "PIL",
    { "from PIL import Image\nImage.new('RGB', (2, 2), 'red')",
      { result = { text = like "<PIL%.Image%.Image image mode=RGB size=2x2.*>", png = PICTURE,
        jpeg = function(bytes) return bytes:sub(1, 3) == "\255\216\255" end } } },
  },
}
