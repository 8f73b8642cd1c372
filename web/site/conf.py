"""Settings of Sphinx for the sources that build.py writes."""

import html
import os
import pathlib
import re

import yaml
from docutils import nodes
from myst_nb.core.render import NbElementRenderer

project = "How Transformers Learn Causal Structure, as running code"
author = "learncausal"
html_title = "learncausal"
html_show_copyright = False
html_show_sphinx = False
extensions = ["myst_nb"]

nb_execution_mode = "off"
nb_render_markdown_format = "myst"
nb_code_prompt_show = "Show the imports"
nb_code_prompt_hide = "Hide the imports"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "config.cache"]

html_theme = "sphinx_book_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["typeset.js"]
html_copy_source = False
html_theme_options = {
    "show_toc_level": 1,
    "home_page_in_toc": True,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navigation_with_keys": False,
    "navbar_start": [],
    "navbar_center": [],
    "navbar_end": [],
    "navbar_persistent": [],
}
html_context = {"default_mode": "auto"}
html_favicon = "_static/icon.svg"

# The site contains MathJax, which typesets formulas when they become visible, also by
# unfolding.
mathjax_path = "mathjax/startup.js"
mathjax3_config = {
    "loader": {"load": ["input/tex", "output/chtml", "a11y/assistive-mml", "ui/lazy"]},
    "options": {"processHtmlClass": "tex2jax_process|mathjax_process|math|output_area", "lazyMargin": "1000px"},
}


def with_description(render_image):
    """Return render_image with the stored description of a picture as its alt text."""

    def render(self, data):
        images = render_image(self, data)
        images[0]["alt"] = data.output_metadata.get(data.mime_type, {}).get("alt", "")
        return images

    return render


NbElementRenderer.render_image = with_description(NbElementRenderer.render_image)


def first_sentences(doctree):
    """Return the first sentences of a page, about 200 characters. Links to other notebooks alone are no sentence."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        texts = [t for t in paragraph.findall(nodes.Text) if not isinstance(t.parent, nodes.raw)]
        words = " ".join("".join(texts).split())
        if not re.search(r"^←|→$", words) and re.search(r"\w[.:?]", words):
            return re.match(r".{,200}[.:?](?= |$)|.{,200}(?= |$)", words)[0]
    return ""


def describe(app, pagename, templatename, context, doctree):
    """Describe a page for search engines and for previews of links, by its first sentences."""
    words = html.escape(first_sentences(doctree) or project)
    title = html.escape(context.get("title", project))
    tags = {"og:description": words, "og:title": title, "og:type": "website"}
    if pagename == "index":
        cff = yaml.safe_load(pathlib.Path(app.srcdir, "CITATION.cff").read_text(encoding="utf-8"))
        tags |= {"citation_title": cff["title"], "citation_author": cff["authors"][0]["name"],
                 "citation_publication_date": cff["date-released"].replace("-", "/")}
    context["metatags"] = context.get("metatags", "") + f'<meta name="description" content="{words}">' + "".join(
        f'<meta {"name" if k.startswith("citation") else "property"}="{k}" content="{v}">' for k, v in tags.items())
    if pagename == "search":
        app.add_js_file("find.js", loading_method="defer")


def run_live(app, pagename, templatename, context, doctree):
    """Begin the page of a notebook with the link to lab/, if the site has it."""
    folder, _, name = pagename.rpartition("/")
    if folder == "notebooks" and os.environ.get("SITE_LAB"):
        lab = f'<a href="../lab/notebooks/index.html?path=notebooks/{name}.ipynb">Run live</a>'
        how = '<a href="../index.html#run-it-change-it">How it works</a>'
        context["body"] = f'<p class="run-live">{lab} in the browser: nothing to install. {how}.</p>' + context["body"]


def setup(app):
    app.connect("html-page-context", run_live)
    app.connect("html-page-context", describe)
