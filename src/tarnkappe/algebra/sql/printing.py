"""Plans and predicates as SQL, which reads back as the same plan."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal

from sqlglot.parser import Parser

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.expressions import (
    And,
    ColumnRef,
    ComparisonPredicate,
    Expression,
    IsNull,
    Like,
    Literal,
    Not,
    OneOf,
    Or,
)
from tarnkappe.algebra.model_nodes import Diversity, ModelGeneralization
from tarnkappe.algebra.nodes import (
    Anonymization,
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    PostProcessing,
    Projection,
    Randomization,
    Relation,
    Rename,
    RowBound,
    Selection,
    SetOperation,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.numbers import number_text
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.sql.dialect import TarnSQL

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset(TarnSQL.Tokenizer.KEYWORDS) | frozenset(Parser.NO_PAREN_FUNCTION_PARSERS)
"""Words that may mean something else than a name."""
_SET_OPERATIONS = {Union: "UNION ALL", Intersection: "INTERSECT ALL", Difference: "EXCEPT ALL"}


def plan_sql(plan: Plan) -> str:
    """The plan as one query, which `read_sql` reads back as this plan.

    >>> from tarnkappe.algebra.nodes import Generalization, Projection, Relation
    >>> spender = Relation("spender", ("plz", "alter", "b"))
    >>> print(plan_sql(Projection(Generalization(spender, ("plz", "alter"), 3), ("plz",))))
    SELECT plz FROM generalize(spender, k => 3, by => [alter, plz])
    """
    match plan:
        case Projection():
            head = "SELECT DISTINCT" if plan.distinct else "SELECT"
            return f"{head} {_names(plan.onto)} FROM {_filtered(plan.child)}"
        case Rename(child=Projection() as below):
            new = dict(plan.names)
            items = ", ".join(_as(quoted(c), new.get(c, c)) if c in new else quoted(c) for c in below.onto)
            head = "SELECT DISTINCT" if below.distinct else "SELECT"
            return f"{head} {items} FROM {_filtered(below.child)}"
        case Rename():
            renamed = ", ".join(_as(quoted(old), new) for old, new in plan.names)
            return f"SELECT * RENAME ({renamed}) FROM {_filtered(plan.child)}"
        case Grouping():
            results = ", ".join([*map(quoted, plan.by), *map(aggregate_sql, plan.aggregates)])
            grouped = f" GROUP BY {_names(plan.by)}" if plan.by else ""
            return f"SELECT {results} FROM {_filtered(plan.child)}{grouped}"
        case SetOperation():
            word = _SET_OPERATIONS[type(plan)] + " BY NAME" * (plan.left.columns != plan.right.columns)
            return f"{_operand(plan.left)} {word} {_operand(plan.right)}"
        case PostProcessing():
            return _post_processing(plan)
    return f"SELECT * FROM {_filtered(plan)}"


def _post_processing(plan: PostProcessing) -> str:
    """The inputs as named parts; the names that they have in the statement are free for nobody's query."""
    statement, parts = plan.statement, []
    for number, (name, each) in enumerate(zip(plan.names, plan.inputs, strict=True)):
        statement = statement.replace(f'"{name}"', f'"part_{number}"')
        parts.append(f"part_{number} AS ({plan_sql(each)})")
    return f"WITH {', '.join(parts)} SELECT * FROM ({statement}) AS answer"


def expression_sql(expression: Expression) -> str:
    """A predicate or a part of one in SQL.

    >>> other = ComparisonPredicate("<>", ColumnRef("b"), Literal("B0"))
    >>> expression_sql(And((other, Not(IsNull(ColumnRef("alter"))))))
    "b <> 'B0' AND NOT alter IS NULL"
    """
    match expression:
        case ColumnRef():
            return quoted(expression.name)
        case Literal():
            return _constant(expression)
        case ComparisonPredicate():
            return f"{expression_sql(expression.left)} {expression.symbol} {expression_sql(expression.right)}"
        case OneOf():
            constants = ", ".join(map(_constant, expression.constants))
            return f"{expression_sql(expression.expression)} IN ({constants})"
        case Like():
            return f"{expression_sql(expression.expression)} LIKE {_text(expression.pattern)}"
        case IsNull():
            return f"{expression_sql(expression.expression)} IS NULL"
        case Not():
            operand = expression.operand
            return (
                f"NOT ({expression_sql(operand)})" if isinstance(operand, Not) else f"NOT {_inside(operand)}"
            )
        case And():
            return " AND ".join(map(_inside, expression.operands))
        case Or():
            return " OR ".join(map(_inside, expression.operands))
    raise TypeError(f"no SQL for {type(expression).__name__}")


def aggregate_sql(aggregate: Aggregate) -> str:
    """An aggregate with the name of its result."""
    column = "*" if aggregate.column is None else quoted(aggregate.column)
    function = "avg" if aggregate.function == "mean" else aggregate.function
    at = [] if aggregate.at is None else [f"at => {number_text(aggregate.at)}"]
    if aggregate.noise is None:
        return _as(f"{function}({', '.join([column, *at])})", aggregate.name)
    noise = aggregate.noise
    limits = [(n, b) for n, b in (("lower", noise.lower), ("upper", noise.upper)) if b is not None]
    named = [f"{name} => {number_text(bound)}" for name, bound in (("epsilon", noise.epsilon), *limits)]
    column_or_none = [] if aggregate.column is None else [column]
    return _as(f"noisy_{aggregate.function}({', '.join(column_or_none + named + at)})", aggregate.name)


def quoted(name: str) -> str:
    """A name as it stands in a query: in quotes if it must."""
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def _inside(predicate: Expression) -> str:
    """A predicate as an operand."""
    text = expression_sql(predicate)
    return f"({text})" if isinstance(predicate, And | Or) else text


def _constant(literal: Literal) -> str:
    match literal.constant:
        case None:
            return "NULL"
        case bool(value):
            return "TRUE" if value else "FALSE"
        case datetime() as moment:
            return f"TIMESTAMP '{moment.isoformat(sep=' ')}'"
        case date() as day:
            return f"DATE '{day.isoformat()}'"
        case Decimal() as number:
            return format(number, "f").rstrip("0")  # it has a fraction, or it would be an int
        case int(number):
            return str(number)
        case text:
            return _text(text)


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(quoted, columns))


def _as(value: str, name: str) -> str:
    return f"{value} AS {quoted(name)}"


def _filtered(plan: Plan) -> str:
    """A plan after FROM, where a selection becomes WHERE."""
    if isinstance(plan, Selection):
        return f"{_from(plan.child)} WHERE {expression_sql(plan.predicate)}"
    return _from(plan)


def _from(plan: Plan) -> str:
    match plan:
        case Join():
            return f"{_from(plan.left)} NATURAL JOIN {_partner(plan)}"
        case ThetaJoin():
            return f"{_from(plan.left)} JOIN {_partner(plan)} ON {expression_sql(plan.predicate)}"
    return _table(plan)


def _partner(join: Join | ThetaJoin) -> str:
    """The right side of a join; a table that the left side names already needs another name, or none."""
    right = join.right
    if isinstance(right, Relation) and _short(right) in _tables_of(join.left):
        return f"({plan_sql(right)})"
    return _table(right)


def _tables_of(plan: Plan) -> set[str]:
    match plan:
        case Relation():
            return {_short(plan)}
        case Join() | ThetaJoin():
            return _tables_of(plan.left) | _tables_of(plan.right)
    return set()


def _short(relation: Relation) -> str:
    """The name by which columns of a table are qualified: without its schema."""
    return relation.name.rpartition(".")[2]


def _table(plan: Plan) -> str:
    """A plan where one table stands."""
    match plan:
        case Relation():
            return ".".join(map(quoted, plan.name.split(".")))
        case Anonymization():
            return _operator(plan)
        case ModelGeneralization():
            return f"generalize({_table(plan.child)}, {model_arguments(plan)}, by => [{_names(plan.by)}])"
        case RowBound():
            return f"bound({_table(plan.child)}, rows => {plan.rows})"
    return f"({plan_sql(plan)})"


def _operand(plan: Plan) -> str:
    """A plan as one side of a set operation."""
    return f"({plan_sql(plan)})" if isinstance(plan, SetOperation) else plan_sql(plan)


def model_arguments(plan: ModelGeneralization) -> str:
    """What a generalization under models is asked for, but its columns."""
    said = [f"k => {plan.k}"]
    if plan.diversity:
        said.append(f"l => {{{', '.join(map(_diversity, plan.diversity))}}}")
    if plan.closeness:
        pairs = ", ".join(f"{quoted(column)}: {number_text(t)}" for column, t in plan.closeness)
        said.append(f"t => {{{pairs}}}")
    if plan.suppress:
        said.append(f"suppress => {number_text(plan.suppress)}")
    named = {"suppression": ("record", plan.suppression), "loss": ("discernibility", plan.loss)}
    named["method"] = ("global", plan.method)
    said += [f"{name} => '{value}'" for name, (usual, value) in named.items() if value != usual]
    return ", ".join(said)


def _diversity(stated: Diversity) -> str:
    column, kind, numbers = stated
    texts = [number_text(number) for number in numbers]
    value = texts[0] if kind == "distinct" else f"{{{kind}: {texts[0] if len(texts) == 1 else _list(texts)}}}"
    return f"{quoted(column)}: {value}"


def _list(texts: list[str]) -> str:
    return f"[{', '.join(texts)}]"


def _operator(plan: Anonymization) -> str:
    child = _table(plan.child)
    match plan:
        case Generalization():
            return f"generalize({child}, k => {plan.k}, by => [{_names(plan.by)}])"
        case SlicingNode():
            groups = ", ".join(f"[{_names(group)}]" for group in plan.groups)
            return f"slice({child}, groups => [{groups}])"
        case Randomization():
            pairs = ", ".join(f"{quoted(column)}: {number_text(p)}" for column, p in plan.probabilities)
            return f"randomize({child}, probability => {{{pairs}}})"
    raise TypeError(f"no SQL for {type(plan).__name__}")
