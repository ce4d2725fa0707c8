"""The lab: pages that show why a sample was credited. Their source is in `web/`."""

from setrl.show.lab.page import Embedded, Page, embedded, is_page, playground

__all__ = ["Embedded", "Page", "embedded", "is_page", "playground"]
