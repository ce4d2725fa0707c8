"""The slow definitions stand beside the tests: `import reference`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
