"""Measured cases, parameters fitted to them, measured beside predicted, and what is learned of the model's own error.

Begin with `cases` (what was measured, and whether it fits or judges) and `validate`, which predicts each (`figures`)
and judges it (`trust`, `baseline`); `learn` makes the model's error of that. `calibrate` fits a host: which host,
volume and tool a log is of (`fit_logs`, `fit_targets`, `fit_tests`, `fit_wan`, `fit_facts`), least squares (`fit`,
`fit_model`, `fit_search`, also where a data sheet gives way). Over days: `watch`, `history`, `repeats`.

What functions take has one name everywhere: ``logs``, files; the ``hosts`` whose parameters are wanted, host files or
names of shipped ones, and the name of a ``host``; ``names``, what logs call hosts, volumes, devices or ends -> what the
host files or the path call them; the mount point ``volume`` for tests whose log names none; the ``path`` that transfers
in the logs went over; ``runs``, what is in the logs where they have been read already; ``free``, parameters that the
user frees, so that what is stated of them counts for next to nothing; the ``calibration``, fitted parameters instead of
those that the paths name (``none`` for none); the ``samples`` behind an interval, 0 for none, and the ``seed`` of the
draws; the address of a Dask ``scheduler`` whose workers compose the paths; ``progress``, called with (done, all). Of a
fit: component ``figures`` that fit, with their paths, and the relative ``error`` that each is weighed with; a
``search`` that has found its minimum, and the parameters there, ``u``; ``firm``, whether figures that are far off let
go; the ``fit`` that was found, and tests ``suggested`` to determine more. Of days: the ``days`` of a series, its
``values``, logarithms of the daily figures, and the ``chance`` that is too improbable for chance. Of learning:
``residuals`` of figures that fitted nothing, and ``noises``, those of repeats, which are carried over.
"""
