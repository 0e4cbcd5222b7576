"""axe-core, which finds what keeps people from using a page; npm installs it into ``build`` the first time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

VERSION = "4.11.0"
FOLDER = Path(__file__).parents[2] / "build" / "npm" / f"axe-{VERSION}"
SCRIPT = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
AT_REST = """() => Promise.race([
  new Promise((done) => setTimeout(done, 2000)), // those out of sight may never end
  Promise.all(document.getAnimations()
    .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime))
    .map((one) => one.finished.catch(() => null))),
]).then(() => null)"""
"""Waits for what fades in or out: half faded, a text has too little contrast."""
OF_BOXES = """(drawing) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const light = (colour, below = null) => {
    pen.clearRect(0, 0, 1, 1);
    for (const paint of [below, colour]) if (paint) { pen.fillStyle = paint; pen.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(document.querySelector(drawing));
  const page = style.getPropertyValue("--paper") || style.getPropertyValue("--jp-layout-color1");
  return [...document.querySelectorAll(`${drawing} g.node`)].map((group) => {
    const shape = getComputedStyle(group.querySelector("path, polygon")).fill;
    const paper = light(shape === "none" ? page : shape, page);
    const ink = light(getComputedStyle(group.querySelector("text")).fill);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  });
}"""
"""The contrast of each box of a drawing: axe does not look at the text of SVG."""


def problem() -> str | None:
    """Why there is no script, which npm installs the first time."""
    if SCRIPT.exists():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return "there is no npm to install axe-core with"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
    command = [npm, "install", "--prefix", str(FOLDER), *options, f"axe-core@{VERSION}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    except (subprocess.SubprocessError, OSError) as error:
        return f"npm could not install axe-core: {getattr(error, 'stderr', None) or error}"
    return None


def installed() -> str:
    """The script; the test is skipped where npm cannot install it."""
    if (why := problem()) is not None:
        pytest.skip(why)
    return SCRIPT.read_text(encoding="utf-8")


def grave(page: Page, within: str = "html") -> list[tuple[str, list[str]]]:
    """The serious findings of a page, or of an element of it: the rule, and the elements."""
    page.evaluate(installed())
    page.evaluate(AT_REST)
    found: list[dict[str, Any]] = page.evaluate("async (within) => (await axe.run(within)).violations", within)
    return [
        (f"{one['id']}: {one['help']}", [f"{node['html']} {node['failureSummary']}" for node in one["nodes"]])
        for one in found
        if one["impact"] in GRAVE
    ]


def least_contrast(page: Page, drawing: str = ".argus-pane") -> float:
    """The least contrast of a box's text with the box; 4.5 is asked of small letters (WCAG 2.2, 1.4.3)."""
    return float(min(page.evaluate(OF_BOXES, drawing)))
