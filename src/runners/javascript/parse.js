// JavaScript to a syntax tree, by acorn.

"use strict";

const { existsSync, loadLibrary } = node;

const PLACES = ["/usr/share/nodejs", "/usr/local/lib/node_modules", "/usr/lib/node_modules"];
const OPTIONS = {
  ecmaVersion: "latest",
  sourceType: "script",
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: true,
  allowHashBang: true,
};

let Parser;

// `import x from "y" with {type: "json"}`: versions of acorn before 8.14 do not know it, and none
// knows `assert`.
const withAttributes = (Base) =>
  class extends Base {
    semicolon() {
      if (this.stepboxImport && (this.value === "with" || this.value === "assert")) {
        this.next();
        this.stepboxImport.attributesNode = this.parseObj(false);
      }
      super.semicolon();
    }

    parseImport(node) {
      const outer = this.stepboxImport;
      this.stepboxImport = node;
      const result = super.parseImport(node);
      this.stepboxImport = outer;
      return result;
    }

    parseDynamicImport(node) {
      this.next();
      node.source = this.parseMaybeAssign();
      if (this.eat(this.stepboxTypes.comma) && this.type !== this.stepboxTypes.parenR) {
        node.options = this.parseMaybeAssign();
        this.eat(this.stepboxTypes.comma);
      }
      this.expect(this.stepboxTypes.parenR);
      return this.finishNode(node, "ImportExpression");
    }
  };

exports.prepare = function prepare() {
  if (Parser) return;
  const found = PLACES.map((place) => `${place}/acorn/dist/acorn.js`).find(existsSync);
  if (!found)
    throw new Error(
      `acorn is not installed (Debian and Ubuntu: node-acorn): looked in ${PLACES.join(", ")}`,
    );
  const acorn = loadLibrary(found);
  Parser = acorn.Parser.extend(withAttributes);
  Parser.prototype.stepboxTypes = acorn.tokTypes;
};

function isExpression(program) {
  return program.body.length === 1 && program.body[0].type === "ExpressionStatement";
}

// The tree, and whether it is that of the source in parentheses: `{a: 1}` is meant as an object.
exports.parse = function parse(source) {
  exports.prepare();
  if (/^\s*\{/.test(source)) {
    try {
      const program = Parser.parse(`(${source}\n)`, OPTIONS);
      if (isExpression(program)) return { program, parenthesized: true };
    } catch {
      // It is a block.
    }
  }
  return { program: Parser.parse(source, OPTIONS), parenthesized: false };
};
