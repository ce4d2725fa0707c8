"""The lab: pages that show why a sample was credited. Their source is in `web/`."""

from setrl.lab.page import Page, is_page, playground

__all__ = ["Page", "is_page", "playground"]
