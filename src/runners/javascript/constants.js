// Assignments to constants of the top level, which are variables to V8 (see cell.js), become what
// they are: errors.

"use strict";

const { children, declaredNames, isFunction, patternIdentifiers, patternNames, varDeclarations } =
  load("syntax");

// What a list of statements declares for itself.
function lexicalNames(statements) {
  const names = [];
  for (const statement of statements) {
    if (statement.type === "VariableDeclaration" && statement.kind !== "var")
      names.push(...declaredNames(statement));
    else if (statement.type === "ClassDeclaration" || statement.type === "FunctionDeclaration") {
      names.push(statement.id.name);
    }
  }
  return names;
}

// The names that hold inside of the node only.
function scopeOf(node) {
  if (isFunction(node)) {
    const names = node.params.flatMap(patternNames);
    if (node.type === "FunctionExpression" && node.id) names.push(node.id.name);
    if (node.type !== "ArrowFunctionExpression") names.push("arguments");
    return names.concat(
      varDeclarations(node.body).flatMap(({ node: each }) => declaredNames(each)),
    );
  }
  switch (node.type) {
    case "BlockStatement":
    case "StaticBlock":
      return lexicalNames(node.body);
    case "SwitchStatement":
      return lexicalNames(node.cases.flatMap(({ consequent }) => consequent));
    case "ForStatement":
      return node.init ? lexicalNames([node.init]) : [];
    case "ForInStatement":
    case "ForOfStatement":
      return lexicalNames([node.left]);
    case "CatchClause":
      return patternNames(node.param);
    case "ClassExpression":
      return node.id ? [node.id.name] : [];
    default:
      return [];
  }
}

function assignedIdentifiers(node) {
  switch (node.type) {
    case "AssignmentExpression":
      return patternIdentifiers(node.left);
    case "UpdateExpression":
      return patternIdentifiers(node.argument);
    case "ForInStatement":
    case "ForOfStatement":
      return node.left.type === "VariableDeclaration" ? [] : patternIdentifiers(node.left);
    default:
      return [];
  }
}

function shorthands(program) {
  const found = new Set();
  const visit = (node) => {
    if (node.type === "Property" && node.shorthand) {
      found.add(node.value.type === "AssignmentPattern" ? node.value.left : node.value);
    }
    children(node).forEach(visit);
  };
  visit(program);
  return found;
}

// Has each assignment to one of the constants assign to a property of `guard` instead: that raises.
exports.guardConstants = function guardConstants(program, constants, edits, guard) {
  let short;
  const visit = (node, scopes) => {
    const names = scopeOf(node);
    const inner = names.length > 0 ? [...scopes, new Set(names)] : scopes;
    for (const identifier of assignedIdentifiers(node)) {
      const { name, start, end } = identifier;
      if (!constants.has(name) || inner.some((scope) => scope.has(name))) continue;
      short ??= shorthands(program);
      edits.replace(start, end, `${short.has(identifier) ? `${name}: ` : ""}${guard}.${name}`);
    }
    for (const child of children(node)) visit(child, inner);
  };
  for (const statement of program.body) visit(statement, []);
};
