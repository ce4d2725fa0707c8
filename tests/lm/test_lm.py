import subprocess
import sys


def test_a_config_needs_no_pytorch():
    program = "import sys, setrl.train.lm.config; print('torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert said.stdout.strip() == b"False"
