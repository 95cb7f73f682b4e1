# Needs make and Python 3.11 or newer. Everything else is set up by the first target that needs it.

PYTHON ?= python3
RUN := .venv/bin/python -m

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' Makefile

demo: .venv/stamp ## the window; without a display a measurement, its pictures and its numbers
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; then \
	    $(RUN) demo; \
	else \
	    mkdir -p out && rm -f out/field*.png out/field.json && \
	    $(RUN) demo bench --screenshot out/field.png --json out/field.json && \
	    echo && echo "There is no display, so instead of a window:" out/field*.png out/field.json; \
	fi

test: .venv/stamp ## all tests; their windows open on a hidden display
	@$(RUN) pytest

fuzz: .venv/stamp ## thousands of random functions on every device, with a new seed, and 100 million floats
	@INTERFACE_TAX_FUZZ=2000 $(RUN) pytest tests/compute/test_fuzz.py tests/renderers/test_fuzz.py \
	    tests/renderers/test_compute.py

bench: .venv/stamp ## 1,000 objects, 120 frames of every interface and schedule
	@mkdir -p out
	@$(RUN) demo bench --objects 1000 --frames 120 --json out/bench.json

lint: .venv/stamp ## formatting, style, types
	@.venv/bin/ruff format --check
	@.venv/bin/ruff check
	@$(RUN) mypy

clean: ## remove all that these targets made, the virtual environment too
	rm -rf .venv out build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

.venv/stamp: pyproject.toml | system
	@echo "Setting up .venv"
	@$(PYTHON) -m venv .venv
	@$(RUN) pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# Prints the Debian packages that are missing. What counts is that a library loads, not which package it is from.
define MISSING
loads() { $(PYTHON) -c 'import ctypes, sys; [ctypes.CDLL(name) for name in sys.argv[1:]]' $$* 2>/dev/null; }; \
$(PYTHON) -c 'import ensurepip' 2>/dev/null || echo $(notdir $(PYTHON))-venv; \
loads libGL.so.1 libEGL.so.1 || echo libgl1 libegl1 libgl1-mesa-dri; \
loads libXrender.so.1 || echo libxrender1; \
loads libvulkan.so.1 || echo libvulkan1; \
[ -n "$$VK_DRIVER_FILES$$VK_ICD_FILENAMES" ] || \
    ls /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json 2>/dev/null | grep -q . || echo mesa-vulkan-drivers; \
[ -z "$(filter test,$(MAKECMDGOALS))" ] || command -v Xvfb >/dev/null || echo xvfb; \
[ -z "$(filter test,$(MAKECMDGOALS))" ] || command -v xdotool >/dev/null || echo xdotool
endef

# Never fails: without these packages the program and the tests themselves say by name what does not work.
system:
	@[ "$$(uname)" = Linux ] && command -v apt-get >/dev/null || exit 0; \
	set -- $$($(MISSING)); [ $$# -gt 0 ] || exit 0; \
	[ "$$(id -u)" = 0 ] && as_root=env || as_root="sudo -n env"; \
	if $$as_root true 2>/dev/null; then \
	    echo "Installing Debian packages: $$*"; \
	    said=$$({ $$as_root apt-get update; $$as_root DEBIAN_FRONTEND=noninteractive \
	        apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=60 "$$@"; } 2>&1) && exit 0; \
	    echo "$$said" | tail -5; \
	fi; \
	echo "Missing Debian packages, to be installed by hand: sudo apt-get install $$*"

.PHONY: help demo test fuzz bench lint clean system
