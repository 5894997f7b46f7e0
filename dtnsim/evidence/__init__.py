"""Measured cases, parameters fitted to them, measured beside predicted, and what is learned of the model's own error.

Begin with `cases` (what was measured, and whether it fits or judges) and `validate`, which predicts each (`figures`)
and judges it (`trust`, `baseline`); `learn` makes the model's error of that. `calibrate` fits a host: which host,
volume and tool a log is of (`fit_logs`, `fit_targets`, `fit_tests`, `fit_wan`, `fit_facts`), least squares (`fit`,
`fit_model`, `fit_search`), where a data sheet gives way (`fit_release`). Over days: `watch`, `history`, `repeats`,
`change_points`.
"""
