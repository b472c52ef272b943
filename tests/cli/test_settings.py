"""`--set`: single keys of the machine, in every command that takes one."""

from smallkernel import Cli


def test_a_setting_changes_the_machine_and_its_name(cli: Cli) -> None:
    whole = cli("occupancy", "--registers", 36, "--block", 256).stdout
    larger = cli("occupancy", "--registers", 36, "--block", 256, "--set", "sm.registers=65536").stdout
    assert "3 resident CTAs on an SM of tesla-c2050, limited by registers" in whole
    assert "6 resident CTAs on an SM of tesla-c2050 with sm.registers=65536, limited by threads" in larger


def test_several_settings_on_another_machine(cli: Cli) -> None:
    shown = cli("overhead", "--gpu", "gtx980-finereg", "--set", "sm.warps=48", "--set", "sm.ctas=8").stdout
    assert "register sharing: 273 bits per SM" in shown  # it depends on warps and CTAs only
    assert "16 SMs of gtx980-finereg with sm.warps=48, sm.ctas=8" in shown


def test_a_wrong_setting_is_a_diagnostic(cli: Cli) -> None:
    result = cli("overhead", "--set", "sm.wraps=48")
    assert result.exit_code == 1
    assert "error[E502]: setting 'sm.wraps=48': no key 'wraps'" in result.stderr
    assert "did you mean 'warps'?" in result.stderr
